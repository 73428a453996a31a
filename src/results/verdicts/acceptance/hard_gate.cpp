#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

/// The runs of one bound on one host at one set of parameters.
struct Bound {
  const GateResult* gate = nullptr;
  const Series* series = nullptr;
  Hosts hosts;
  int passed = 0, failed = 0, measured = 0;
};

Hosts hosts_of(const PlannedJobs& jobs, const Series& series) {
  const auto job = jobs.find(series.job);
  return job == jobs.end() ? Hosts{series.host} : job->second->hosts;
}

std::map<std::string, Bound> bounds_of(const std::vector<RunSummary>& reports) {
  std::map<std::string, Bound> bounds;
  for (const RunSummary& report : reports) {
    const PlannedJobs jobs = jobs_by_id(report);
    for (const GateResult& gate : report.gates) {
      if (!gate.series) continue;
      const Series& series = report.results[*gate.series].series;
      const Hosts hosts = hosts_of(jobs, series);
      Bound& bound =
          bounds[dump(Json::array({hosts, gate.gate.case_name, demand(gate.gate, series.unit),
                                   series.metric, series.params}))];
      const bool counts = gate.measured && series.clean > 0;
      const bool fails = counts && gate.verdict == Verdict::fail;
      // Show a failing run as evidence, else the last one.
      if (bound.failed == 0 || fails) bound.gate = &gate, bound.series = &series;
      bound.hosts = hosts;
      if (!counts) continue;
      ++bound.measured;
      bound.passed += gate.verdict == Verdict::pass ? 1 : 0;
      bound.failed += fails ? 1 : 0;
    }
  }
  return bounds;
}

double expected_of(const Bound& bound) {
  const Gate& gate = bound.gate->gate;
  if (gate.min_of_limit && bound.series->limit)
    return *gate.min_of_limit * bound.series->limit->value;
  return gate.min.value_or(gate.max.value_or(kNoValue));
}

/// The majority of runs decides; a single dip is left to the repeatability gate.
void judge_bound(const Bound& bound, GateContext& context, std::set<std::string>& missed) {
  const Series& series = *bound.series;
  Verdict verdict = Verdict::inconclusive;
  if (bound.measured > 0 && 2 * bound.failed > bound.measured) verdict = Verdict::fail;
  if (bound.passed > 0 && bound.failed == 0 && 2 * bound.passed > bound.measured)
    verdict = Verdict::pass;
  for (const std::string& host : bound.hosts) {
    const std::string key = bound_key(host, series.case_name, series.metric);
    if (verdict == Verdict::pass) {
      context.bounded.insert(key);
      continue;
    }
    missed.insert(key);
    Reason reason{verdict,       "hard",      series.case_name, series.metric,
                  series.params, series.unit, series.median,    expected_of(bound)};
    reason.text = fmt::format("{}: {}, the suite requires {}: {}", series.metric,
                              format(series.median, series.unit),
                              demand(bound.gate->gate, series.unit), bound.gate->reason);
    reason.job = series.job;
    if (bound.hosts.size() > 1) {
      reason.verdict = Verdict::inconclusive;
      reason.text += " (" + join(bound.hosts, ", ") + " together; the cause is not isolated)";
    }
    reason.more_runs = verdict == Verdict::inconclusive;
    if (reason.more_runs) reason.next_step = "repeat for more clean runs";
    context.add_reason(host, std::move(reason));
  }
}

/// Gates whose case measured no such series on any host.
void judge_unmatched(GateContext& context) {
  for (const GateResult& gate : context.reports.front().gates)
    if (!gate.series)
      context.acceptance.not_covered.push_back(fmt::format(
          "gate {} of case {}: {}", gate.gate.metric, gate.gate.case_name, gate.reason));
}

/// A result that failed its check. A value above a proven limit is a measurement error, not a fault
/// of the host, and does not count.
bool is_wrong(const Series& series) {
  return series.outcome == Status::invalid && series.check && !series.check->passed();
}

/// A description (cores, bytes) rather than a measurement: two sources disagree, and either may be
/// wrong.
bool is_description(const Series& series) { return series.better == Better::none; }

void judge_results(GateContext& context) {
  for (const RunSummary& report : context.reports) {
    const PlannedJobs jobs = jobs_by_id(report);
    for (const Result& result : report.results) {
      const Series& series = result.series;
      if (!is_wrong(series)) continue;
      const Hosts hosts = hosts_of(jobs, series);
      for (const std::string& host : hosts) {
        const bool its_own = hosts.size() == 1 && !is_description(series);
        Reason reason{its_own ? Verdict::fail : Verdict::inconclusive,
                      "hard",
                      series.case_name,
                      series.metric,
                      series.params,
                      series.unit};
        reason.value = series.check->error;
        reason.expected = series.check->tolerance;
        reason.unit = Unit::count;
        reason.text =
            fmt::format("{} on {}: {}", series.metric, join(hosts, " and "), series.reason);
        reason.job = series.job;
        if (hosts.size() > 1) reason.next_step = "rerun with other partners";
        if (is_description(series))
          reason.next_step = "determine which of the two sources is right";
        context.add_reason(host, std::move(reason));
      }
    }
  }
}

std::size_t results_in(const std::vector<HashGroup>& groups) {
  std::size_t count = 0;
  for (const HashGroup& group : groups) count += group.members.size();
  return count;
}

/// Identical devices whose exact results differ: the minority is wrong; a tie stays open.
void judge_bits(GateContext& context) {
  std::vector<ResultHash> hashes;
  for (const RunSummary& report : context.reports)
    hashes.insert(hashes.end(), report.hashes.begin(), report.hashes.end());
  for (const auto& groups : unequal_results(hashes)) {
    const std::size_t most = groups.back().members.size();
    const bool tie = groups[groups.size() - 2].members.size() == most;
    std::map<std::string, const HashGroup*> suspects;  // host -> its result
    for (const HashGroup& group : groups)
      if (tie || group.members.size() < most)
        for (const ResultHash* one : group.members) suspects.emplace(one->host, &group);
    for (const auto& [host, group] : suspects) {
      const ResultHash& one = *group->members.front();
      Reason reason{tie ? Verdict::inconclusive : Verdict::fail, "hard"};
      reason.metric = one.probe + ".bits";
      reason.text = fmt::format(
          "{} of {} has result hash {}, but {} of {} results of identical devices have {} ({})",
          one.device, host, group->hash, most, results_in(groups), groups.back().hash,
          describe_key(one.key));
      reason.job = one.job;
      if (tie) reason.next_step = "add identical devices: the results are tied";
      context.add_reason(host, std::move(reason));
    }
  }
}

void judge_faults(GateContext& context) {
  for (const RunSummary& report : context.reports)
    for (const JobResult& job : report.jobs)
      for (const Json& fault : job.faults) {
        const bool fatal = field(fault, "fatal") == true && job.job.hosts.size() == 1;
        const std::string text =
            fmt::format("the driver reported Xid {} on {}: {}", integer_field(fault, "code"),
                        text_field(fault, "device", "a GPU"), text_field(fault, "text"));
        for (const std::string& host : job.job.hosts) {
          Reason reason{fatal ? Verdict::fail : Verdict::inconclusive, "hard", job.job.case_name};
          reason.text = text;
          reason.job = job.job.id;
          reason.next_step = fatal ? "" : "check the kernel log on the host around that time";
          context.add_reason(host, std::move(reason));
        }
      }
}

}  // namespace

void judge_hard(GateContext& context) {
  std::set<std::string> missed;
  for (const auto& [key, bound] : bounds_of(context.reports)) judge_bound(bound, context, missed);
  for (const std::string& key : missed) context.bounded.erase(key);
  judge_unmatched(context);
  judge_results(context);
  judge_bits(context);
  judge_faults(context);
}

}  // namespace bench
