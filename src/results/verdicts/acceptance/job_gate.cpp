#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "results/run/dimensions.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

void judge_lost_hosts(GateContext& context) {
  std::set<std::string> lost;
  for (const RunSummary& report : context.reports)
    for (const JobResult& job : report.jobs)
      for (const auto& [host, why] : job.out) {
        if (job.outcome == Status::ok || !lost.insert(host).second) continue;
        Reason reason{Verdict::fail, "launch", job.job.case_name};
        reason.text = "dropped out of the run: " + job.reason;
        reason.next_step = "restore the host and rerun";
        reason.job = job.job.id;
        context.add_reason(host, std::move(reason));
      }
}

/// Jobs of one case on one set of hosts (or parts of them) over all runs.
struct Attempts {
  int ok = 0;
  const JobResult* last_bad = nullptr;
  bool only_skipped = true;
};

bool has_lost_host(const JobResult& job) { return !job.out.empty(); }

/// Hosts and the device or rail: " on device cuda:3"; "" for whole hosts.
using Where = std::pair<Hosts, std::string>;
using Case = std::map<Where, Attempts>;

std::string part_text(const PlannedJob& job) {
  return job.part.empty() ? "" : " on " + dimension_list(job.part);
}

std::map<std::string, Case> attempts(const std::vector<RunSummary>& reports) {
  std::map<std::string, Case> cases;
  for (const RunSummary& report : reports)
    for (const JobResult& job : report.jobs) {
      Attempts& seen = cases[job.job.case_name][{job.job.hosts, part_text(job.job)}];
      if (job.outcome == Status::ok || job.outcome == Status::invalid) ++seen.ok;
      if (job.outcome != Status::ok) seen.last_bad = &job;
      seen.only_skipped &= job.outcome == Status::skipped && !job.not_run;
    }
  return cases;
}

/// Skipped by every host for lack of hardware: the case does not apply to this fleet.
bool is_inapplicable(const Case& one) {
  return std::ranges::all_of(one, [](const auto& entry) {
    return entry.second.only_skipped && !has_lost_host(*entry.second.last_bad) &&
           !entry.second.last_bad->reason.starts_with("interrupted");
  });
}

void judge_case(GateContext& context, const std::string& name, const Case& one) {
  if (is_inapplicable(one)) {
    context.acceptance.not_covered.push_back("case " + name + ": " +
                                             one.begin()->second.last_bad->reason);
    return;
  }
  for (const auto& [where, seen] : one) {
    const auto& [hosts, part] = where;
    if (seen.last_bad == nullptr || has_lost_host(*seen.last_bad)) continue;
    const std::string what = fmt::format("{}{} {}: {}", name, part,
                                         to_string(seen.last_bad->outcome), seen.last_bad->reason);
    for (const std::string& host : hosts) {
      HostAcceptance* found = context.host(host);
      if (found == nullptr) continue;
      if (seen.ok > 0) {
        if (seen.last_bad->outcome != Status::invalid)
          found->notes.push_back("in one run: " + what);
        continue;
      }
      Reason reason{Verdict::inconclusive, "coverage", name};
      reason.text = hosts.size() > 1 ? what + " (on " + join(hosts, ", ") + ")" : what;
      reason.next_step = "fix the reported error and rerun";
      reason.job = seen.last_bad->job.id;
      context.add_reason(host, std::move(reason));
    }
  }
}

}  // namespace

void judge_jobs(GateContext& context) {
  judge_lost_hosts(context);
  for (const auto& [name, one] : attempts(context.reports)) judge_case(context, name, one);
}

}  // namespace bench
