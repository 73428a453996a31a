#include <cmath>
#include <map>

#include "results/history/metric_declaration.h"
#include "results/nightly/confirmation.h"
#include "runner/nightly/again_id.h"
#include "runner/nightly/reruns.h"

namespace bench {
namespace {

/// Rerun values of one series of a job; fewer jobs may have fewer axes.
bool same_series(const Series& series, const NightFinding& finding) {
  if (series.metric != finding.metric) return false;
  for (const auto& [name, value] : series.params.items())
    if (!finding.params.contains(name) || finding.params[name] != value) return false;
  return true;
}

std::vector<Rerun> values_of(const RunSummary& again, const std::string& job,
                             const NightFinding& finding) {
  std::vector<Rerun> values;
  for (const JobResult& result : again.jobs) {
    if (!is_again(result.job.id, job)) continue;
    Rerun rerun;
    for (const Result& one : again.results)
      if (result.outcome == Status::ok && one.series.job == result.job.id &&
          one.series.outcome == Status::ok && same_series(one.series, finding))
        rerun = {one.series.median, is_clean(one.series)};
    values.push_back(rerun);
  }
  return values;
}

/// The job of the peer in the night, by host and work.
const Series* series_of_peer(const RunSummary& first, const NightFinding& finding) {
  std::map<std::string, const JobResult*> jobs;
  for (const JobResult& job : first.jobs) jobs[job.job.id] = &job;
  for (const Result& one : first.results) {
    const auto job = jobs.find(one.series.job);
    if (job != jobs.end() && job->second->job.case_name == finding.case_name &&
        job->second->job.hosts == std::vector{finding.peer} && same_series(one.series, finding))
      return &one.series;
  }
  return nullptr;
}

const Series* own_series(const RunSummary& first, const NightFinding& finding) {
  for (const Result& one : first.results)
    if (one.series.job == finding.job && same_series(one.series, finding)) return &one.series;
  return nullptr;
}

struct Count {
  std::size_t ran = 0, failed = 0;
};

/// Reruns that were skipped or not started are inconclusive.
Count failures(const RunSummary& again, const std::string& job, const NightFinding& finding) {
  Count count;
  for (const JobResult& result : again.jobs) {
    if (!is_again(result.job.id, job) || result.not_run || result.outcome == Status::skipped)
      continue;
    ++count.ran;
    bool failed = result.outcome != Status::ok;
    for (const GateResult& gate : again.gates)
      failed |= gate.verdict == Verdict::fail && gate.series &&
                again.results[*gate.series].series.job == result.job.id &&
                same_series(again.results[*gate.series].series, finding);
    for (const Result& one : again.results)
      failed |= one.series.job == result.job.id && one.series.outcome == Status::invalid;
    count.failed += failed ? 1 : 0;
  }
  return count;
}

void judge(NightFinding& finding, const RunSummary& first, const RunSummary& again,
           const HistoryOf& history, const RerunRule& rule) {
  const Series* peer = finding.peer.empty() ? nullptr : series_of_peer(first, finding);
  if (finding.kind != SuspicionKind::slower) {
    const Count own = failures(again, finding.job, finding);
    const Count beside = peer == nullptr ? Count{} : failures(again, peer->job, finding);
    return judge_failed(finding, own.ran, own.failed, beside.failed);
  }
  Evidence evidence;
  if (const Series* own = own_series(first, finding)) evidence.history = history(identity_of(*own));
  evidence.host = values_of(again, finding.job, finding);
  if (peer != nullptr) {
    evidence.peer_history = history(identity_of(*peer));
    evidence.peer = values_of(again, peer->job, finding);
  }
  judge_slower(finding, evidence,
               {threshold_of(finding.metric, rule.suspicion), rule.level,
                declaration(finding.metric).noise_floor});
}

}  // namespace

std::vector<NightFinding> judge_reruns(const Reruns& reruns, const RunSummary& first,
                                       const RunSummary& again, const HistoryOf& history,
                                       const RerunRule& rule) {
  std::vector<NightFinding> judged = reruns.asked;
  for (NightFinding& finding : judged) judge(finding, first, again, history, rule);
  return judged;
}

}  // namespace bench
