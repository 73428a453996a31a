#include "runner/acceptance/accept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/log.h"
#include "runner/dispatch/search_jobs.h"

namespace bench {
namespace {

using CaseOfHost = std::pair<std::string, std::string>;

bool dropped_out(const HostAcceptance& host) {
  return std::ranges::any_of(host.reasons,
                             [](const Reason& reason) { return reason.gate == "launch"; });
}

/// Repeats of the least repeated case in one round.
int repeats(const Plan& plan) {
  int least = 1;
  for (const Case& one : plan.suite.cases) least = std::max(least, one.repeat);
  for (const Case& one : plan.suite.cases) least = std::min(least, one.repeat);
  return std::max(1, least);
}

std::vector<RunRecords> read_all(const std::vector<std::filesystem::path>& runs) {
  std::vector<RunRecords> records;
  for (const auto& run : runs) records.push_back(read_run(run));
  return records;
}

void log_round(const Plan& plan, int round) {
  std::set<std::string> hosts;
  for (const PlanEntry& entry : plan.entries)
    hosts.insert(entry.job.hosts.begin(), entry.job.hosts.end());
  say(Level::info, fmt::format("inconclusive: round {} reruns {} jobs on {} hosts", round,
                               plan.entries.size(), hosts.size()));
}

}  // namespace

Plan plan_of_open_cases(const Plan& plan, const Acceptance& acceptance) {
  std::set<CaseOfHost> wanted;
  std::set<std::string> out;
  for (const HostAcceptance& host : acceptance.hosts) {
    if (dropped_out(host)) out.insert(host.host);
    for (const std::string& one : open_cases(host)) wanted.insert({one, host.host});
  }
  Plan more{plan.suite, plan.inventory, {}, plan.gates, {}};
  for (const PlanEntry& entry : plan.entries) {
    const auto& hosts = entry.job.hosts;
    const auto is_wanted = [&](const std::string& host) {
      return wanted.contains({entry.job.case_name, host});
    };
    if (!entry.skip.empty() || std::ranges::none_of(hosts, is_wanted) ||
        std::ranges::any_of(hosts, [&](const auto& host) { return out.contains(host); }))
      continue;
    more.entries.push_back(entry);
    more.expected += entry.expected;
  }
  return more;
}

AcceptedRuns accept_hosts(const AcceptRequest& request, const ProbeCatalogue& catalogue,
                          const LaunchSite& site) {
  AcceptedRuns accepted;
  const RunDirectory first = execute(request.run, catalogue, site).directory;
  accepted.runs.push_back(first.path());
  accepted.acceptance = judge_acceptance(read_all(accepted.runs), request.settings);
  const int each = repeats(request.run.plan);
  for (int taken = 2 * each; taken <= request.most_runs; taken += each) {
    RunRequest more = request.run;
    more.plan = plan_of_open_cases(request.run.plan, accepted.acceptance);
    if (more.plan.entries.empty() || accepted.acceptance.interrupted) break;
    log_round(more.plan, taken / each);
    more.labels["accept"] = first.id();
    set_search(more, {});  // only the first run searches
    accepted.runs.push_back(execute(more, catalogue, site).directory.path());
    accepted.acceptance = judge_acceptance(read_all(accepted.runs), request.settings);
  }
  return accepted;
}

Acceptance judge_stored(const std::vector<std::filesystem::path>& runs,
                        AcceptanceSettings settings) {
  auto records = read_all(runs);
  std::set<std::string> known(settings.hosts.begin(), settings.hosts.end());
  const bool all = known.empty();
  for (const RunRecords& run : records)
    for (const PlannedJob& job : run.jobs)
      for (const std::string& host : job.hosts)
        if (all && known.insert(host).second) settings.hosts.push_back(host);
  return judge_acceptance(std::move(records), settings);
}

}  // namespace bench
