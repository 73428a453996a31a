#include "runner/nightly/reruns.h"

#include <algorithm>
#include <map>
#include <set>

#include "results/run/metric_catalogue.h"
#include "results/verdicts/nightly/confirmation.h"

namespace bench {
namespace {

const PlanEntry* planned_entry(const Plan& plan, const std::string& job) {
  const auto found = std::ranges::find_if(
      plan.entries, [&](const PlanEntry& entry) { return entry.job.id == job; });
  return found == plan.entries.end() ? nullptr : &*found;
}

bool same_work(const PlanEntry& a, const PlanEntry& b) {
  return a.job.case_name == b.job.case_name && a.axes == b.axes && a.job.ranks == b.job.ranks &&
         a.job.repeat == b.job.repeat && a.job.part == b.job.part && a.job.binding == b.job.binding;
}

using Suspected = std::set<std::pair<std::string, std::string>>;  // host, case

class RerunPlanner {
 public:
  RerunPlanner(const Plan& night, int times, double time_s)
      : night_(night), times_(times), time_s_(time_s) {
    reruns_.plan = without_entries(night);
  }

  void ask(NightFinding finding, const Suspected& suspected) {
    const PlanEntry* entry = planned_entry(night_, finding.job);
    if (entry == nullptr) return leave(std::move(finding), "its job is not in the plan");
    const PlanEntry* peer = peer_of(*entry, suspected);
    if (!fits(*entry)) return leave(std::move(finding), "no time left to rerun it");
    if (peer != nullptr) finding.peer = peer->job.hosts.front();
    for (int k = 1; k <= times_; ++k) {
      add(*entry, k);
      if (peer != nullptr) add(*peer, k);
    }
    reruns_.asked.push_back(std::move(finding));
  }

  Reruns take() { return std::move(reruns_); }

 private:
  void leave(NightFinding finding, const std::string& why) {
    finding.state = SuspicionState::unsettled;
    finding.text += "; " + why;
    finding.next_step = "raise --budget, or rerun `benchctl nightly`";
    reruns_.no_time.push_back(std::move(finding));
  }

  bool is_planned(const PlanEntry& entry) const {
    return planned_.contains(rerun_id(entry.job.id, 1));
  }

  double spent_s(const PlanEntry& entry) const {
    double most = 0.0;
    for (const std::string& host : entry.job.hosts)
      if (const auto spent = spent_s_.find(host); spent != spent_s_.end())
        most = std::max(most, spent->second);
    return most;
  }

  bool fits(const PlanEntry& entry) const {
    return is_planned(entry) || spent_s(entry) + times_ * entry.expected.value <= time_s_;
  }

  /// Of the fitting peers, the one whose host has the least work.
  const PlanEntry* peer_of(const PlanEntry& entry, const Suspected& suspected) const {
    if (entry.job.hosts.size() != 1) return nullptr;
    const PlanEntry* best = nullptr;
    for (const PlanEntry& other : night_.entries) {
      if (other.job.hosts.size() != 1 || other.job.hosts == entry.job.hosts ||
          !same_work(entry, other) || !fits(other) ||
          suspected.contains({other.job.hosts.front(), other.job.case_name}))
        continue;
      if (best == nullptr || spent_s(other) < spent_s(*best)) best = &other;
    }
    return best;
  }

  void add(const PlanEntry& entry, int k) {
    PlanEntry again = entry;
    again.job.id = rerun_id(entry.job.id, k);
    if (!planned_.insert(again.job.id).second) return;
    reruns_.plan.expected += again.expected;
    for (const std::string& host : again.job.hosts) spent_s_[host] += again.expected.value;
    reruns_.plan.entries.push_back(std::move(again));
  }

  const Plan& night_;
  int times_;
  double time_s_;
  std::map<std::string, double> spent_s_;
  std::set<std::string> planned_;
  Reruns reruns_;
};

}  // namespace

Reruns plan_reruns(const Plan& night, const Suspicions& suspicions, int times, double time_s) {
  Suspected suspected;
  for (const NightFinding& finding : suspicions.findings)
    suspected.insert({finding.host, finding.case_name});
  RerunPlanner planner(night, times, time_s);
  for (const NightFinding& finding : suspicions.findings) planner.ask(finding, suspected);
  return planner.take();
}

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

bool has_series(const RunSummary& again, const std::string& job, const NightFinding& finding) {
  return std::ranges::any_of(again.results, [&](const Result& one) {
    return one.series.job == job && same_series(one.series, finding);
  });
}

/// Reruns that were skipped or not started are inconclusive, as are those that cannot have the
/// figure that missed its bound: scaling efficiency needs the other numbers of ranks.
Count failures(const RunSummary& again, const std::string& job, const NightFinding& finding) {
  Count count;
  for (const JobResult& result : again.jobs) {
    if (!is_again(result.job.id, job) || result.not_run || result.outcome == Status::skipped)
      continue;
    const bool of_several = finding.metric.ends_with(".scaling_efficiency");
    if (of_several && result.outcome == Status::ok && !has_series(again, result.job.id, finding))
      continue;
    ++count.ran;
    bool failed = result.outcome != Status::ok;
    for (const GateResult& gate : again.gates)
      failed |= gate.verdict == Verdict::fail && gate.series &&
                again.results[*gate.series].series.job == result.job.id &&
                same_series(again.results[*gate.series].series, finding);
    for (const Result& one : again.results)
      failed |= one.series.job == result.job.id && one.series.outcome == Status::invalid;
    if (finding.kind == SuspicionKind::cpu_quota) failed = is_withheld(again, result.job.id);
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
