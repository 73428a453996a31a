#include "results/localisation/localisation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/hostlist.h"
#include "results/reports/run_report.h"

namespace bench {
namespace {

/// Jobs that the budget still allows, when each may take as long as the longest.
std::size_t jobs_left(const SearchBudget& budget, const RunReport& report, double longest_s) {
  std::size_t jobs = 0;
  double searched_s = 0.0, own_s = 0.0;
  for (const JobResult& job : report.jobs) {
    const double seconds = std::isfinite(job.seconds) ? job.seconds : 0.0;
    if (job.job.search_of.empty()) {
      own_s += seconds;
    } else {
      ++jobs;
      searched_s += seconds;
    }
  }
  const double most_s = budget.max_s.value_or(std::max(kLeastSearchS, kShareOfRun * own_s));
  const double by_time = std::max(0.0, most_s - searched_s) / std::max(longest_s, 0.001);
  const std::size_t by_count = budget.max_jobs > jobs ? budget.max_jobs - jobs : 0;
  return by_time >= static_cast<double>(by_count) ? by_count : static_cast<std::size_t>(by_time);
}

/// A named cause that lies in the incident's hosts.
std::string known_cause(const Incident& incident, const std::vector<Localisation>& before) {
  for (const Localisation& one : before)
    for (const SearchFinding& finding : one.step.findings) {
      if (finding.kind != SearchFindingKind::host && finding.kind != SearchFindingKind::link)
        continue;
      const bool inside = std::ranges::all_of(finding.hosts, [&](const std::string& host) {
        return std::ranges::find(incident.hosts, host) != incident.hosts.end();
      });
      if (inside)
        return std::string(to_string(finding.kind)) + " " + compact_hostlist(finding.hosts);
    }
  return "";
}

}  // namespace

std::optional<SearchBudget> search_budget(const Json& plan) {
  const Json& stated = field(plan, "localisation");
  if (!stated.is_object()) return {};
  SearchBudget budget;
  budget.max_jobs =
      static_cast<std::size_t>(std::max<std::int64_t>(0, integer_field(stated, "max_jobs")));
  if (const double most = number_field(stated, "max_s"); std::isfinite(most)) budget.max_s = most;
  return budget;
}

Json to_json(const SearchBudget& budget) {
  return {{"max_jobs", budget.max_jobs}, {"max_s", budget.max_s ? Json(*budget.max_s) : Json()}};
}

std::vector<Localisation> localise(const RunReport& report, const Hosts& order,
                                   const std::optional<SearchBudget>& budget) {
  std::vector<Localisation> list;
  std::size_t left = 0;
  bool busy = false;  // one search after the other: what one names may explain the next
  for (Incident& incident : incidents(report)) {
    Localisation one{std::move(incident), {}};
    one.explained_by = known_cause(one.incident, list);
    if (!one.explained_by.empty() && one.incident.searched == 0) {
      list.push_back(std::move(one));
      continue;
    }
    one.explained_by.clear();
    one.step = search_step(order, one.incident.trials);
    if (budget && !busy) left = jobs_left(*budget, report, one.incident.longest_s);
    const bool more = !one.step.next.empty();
    if (busy || !budget) left = 0;
    one.spent = more && budget && !busy && left == 0;
    one.step.next.resize(std::min(one.step.next.size(), left));
    busy |= !one.step.next.empty();
    list.push_back(std::move(one));
  }
  if (!budget)
    std::erase_if(list, [](const Localisation& one) {
      return one.step.findings.empty() && one.explained_by.empty();
    });
  return list;
}

Hosts hosts_of_plan(const Json& plan) {
  Hosts hosts;
  for (const Json& host : array_field(object_field(plan, "inventory"), "hosts"))
    if (const std::string name = text_field(host, "name"); !name.empty()) hosts.push_back(name);
  return hosts;
}

RunRecords without_searches(RunRecords run) {
  std::set<std::string> searches;
  for (const PlannedJob& job : run.jobs)
    if (!job.search_of.empty()) searches.insert(job.id);
  std::erase_if(run.jobs, [](const PlannedJob& job) { return !job.search_of.empty(); });
  std::erase_if(run.records, [&](const Record& one) { return searches.contains(one.job); });
  return run;
}

}  // namespace bench
