#include "results/verdicts/localisation/localisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/fields.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "results/run/dimensions.h"
#include "results/run/run_summary.h"
#include "results/verdicts/localisation/incident.h"

namespace bench {
namespace {

/// " on rail 2 (mlx5_2)".
std::string rail_of(const Incident& incident) {
  const std::int64_t rail = integer_field(incident.part, "rail", -1);
  const std::string card = text_field(incident.part, "card");
  if (rail < 0) return "";
  return fmt::format(" on rail {}{}", rail, card.empty() ? "" : " (" + card + ")");
}

}  // namespace

std::string describe(const Incident& incident) {
  const std::string where = compact_hostlist(incident.hosts);
  if (!incident.slow)
    return fmt::format("{} fails on {}{}: {}", incident.case_name, where, rail_of(incident),
                       incident.reason);
  const std::string params = dimension_list(incident.params);
  return fmt::format("{} is slow on {}: {}{} is {}, the suite requires {}", incident.case_name,
                     where, incident.metric, params.empty() ? "" : " (" + params + ")",
                     format(incident.value, incident.unit), format(incident.bound, incident.unit));
}

std::string describe(const SearchFinding& finding, const Incident& incident) {
  const std::string shown = evidence_text(finding, incident.trials, incident, Symptom::present);
  const std::string fine = evidence_text(finding, incident.trials, incident, Symptom::absent);
  const std::string hosts = compact_hostlist(finding.hosts);
  switch (finding.kind) {
    case SearchFindingKind::host:
      return fmt::format("host {}{}: with it {}; without it {}", hosts, rail_of(incident), shown,
                         fine);
    case SearchFindingKind::link:
      return fmt::format("the link between {} and {}: together {}; each with others {}",
                         finding.hosts.at(0), finding.hosts.at(1), shown, fine);
    case SearchFindingKind::together:
      return fmt::format("only {} together: {}; subsets: {}", hosts, shown, fine);
    case SearchFindingKind::everywhere:
      return fmt::format("every subset of {} is affected ({}): most hosts, or something they share",
                         hosts, shown);
    case SearchFindingKind::flaky:
      return fmt::format("not reproducible on {}: first {}, then {}", hosts, shown, fine);
    case SearchFindingKind::undecided:
      return fmt::format("{} cannot be isolated: {}; {}", hosts, shown,
                         "no job with another host passed");
  }
  return "";
}

Json localisation_json(const std::vector<Localisation>& list) {
  Json json = Json::array();
  for (const Localisation& one : list) {
    const Incident& incident = one.incident;
    Json findings = Json::array();
    Json devices = Json::array();
    for (const DeviceSearch& search : one.devices) devices.push_back(to_json(search, incident));
    for (const SearchFinding& finding : one.step.findings)
      findings.push_back({{"kind", to_string(finding.kind)},
                          {"hosts", finding.hosts},
                          {"text", describe(finding, incident)},
                          {"evidence", evidence_json(finding, incident.trials, "hosts")}});
    json.push_back({{"case", incident.case_name},
                    {"kind", incident.slow ? "slow" : "failed"},
                    {"job", incident.job},
                    {"hosts", incident.hosts},
                    {"metric", text_or_null(incident.metric)},
                    {"params", incident.params},
                    {"unit", incident.slow ? Json(to_string(incident.unit)) : Json()},
                    {"value", number_or_null(incident.value)},
                    {"bound", number_or_null(incident.bound)},
                    {"text", describe(incident)},
                    {"findings", std::move(findings)},
                    {"devices", std::move(devices)},
                    {"open", one.step.open},
                    {"explained_by", text_or_null(one.explained_by)},
                    {"jobs", incident.searched},
                    {"seconds", incident.searched_s},
                    {"finished", !goes_on(one) && !is_spent(one)},
                    {"budget_spent", is_spent(one)}});
  }
  return json;
}

namespace {

/// Jobs left in the budget, each assumed as long as the longest.
std::size_t jobs_left(const SearchBudget& budget, const RunSummary& report, double longest_s) {
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

/// A known cause among the hosts of the incident.
std::string known_cause(const Incident& incident, const std::vector<Localisation>& before) {
  const auto takes_part = [&](const std::string& host) {
    return std::ranges::find(incident.hosts, host) != incident.hosts.end();
  };
  for (const Localisation& one : before) {
    for (const DeviceSearch& search : one.devices)
      for (const SearchFinding& finding : search.step.findings)
        if (isolates_cause(finding) && takes_part(search.form.host))
          return compact_hostlist(finding.hosts) + " of " + search.form.host;
    for (const SearchFinding& finding : one.step.findings)
      if (isolates_cause(finding) && std::ranges::all_of(finding.hosts, takes_part))
        return std::string(to_string(finding.kind)) + " " + compact_hostlist(finding.hosts);
  }
  return "";
}

/// Searches share one budget and run in sequence, as one finding may explain the next.
class BudgetShare {
 public:
  BudgetShare(const RunSummary& report, const std::optional<SearchBudget>& budget)
      : report_(report), budget_(budget) {}

  /// How many of `wanted` jobs may run now; sets `spent` if the budget allows none.
  std::size_t take(std::size_t wanted, double longest_s, bool& spent) {
    if (!budget_ || busy_ || wanted == 0) return 0;
    const std::size_t left = jobs_left(*budget_, report_, longest_s);
    spent = left == 0;
    busy_ = left > 0;
    return std::min(wanted, left);
  }
  /// All jobs or none, because they are compared with each other.
  bool take_all(std::size_t wanted, double longest_s, bool& spent) {
    if (!budget_ || busy_ || wanted == 0) return false;
    spent = jobs_left(*budget_, report_, longest_s) < wanted;
    busy_ = !spent;
    return busy_;
  }

 private:
  const RunSummary& report_;
  const std::optional<SearchBudget>& budget_;
  bool busy_ = false;
};

void advance_search(const Hosts& order, BudgetShare& share, Localisation& one) {
  const Incident& incident = one.incident;
  if (incident.hosts.size() > 1) one.step = search_step(order, incident.trials);
  if (!one.step.next.empty()) {
    const std::size_t now = share.take(one.step.next.size(), incident.longest_s, one.spent);
    one.step.next.resize(now);
    return;
  }
  one.devices = device_searches(incident, one.step);
  for (DeviceSearch& search : one.devices)
    if (!share.take_all(search.next.size(), incident.longest_s, search.spent)) search.next.clear();
}

/// In the order of the plan.
Hosts hosts_of_plan(const Json& plan) {
  Hosts hosts;
  for (const Json& host : array_field(object_field(plan, "inventory"), "hosts"))
    if (const std::string name = text_field(host, "name"); !name.empty()) hosts.push_back(name);
  return hosts;
}

bool has_conclusion(const Localisation& one) {
  return !one.step.findings.empty() || !one.explained_by.empty() ||
         std::ranges::any_of(
             one.devices, [](const DeviceSearch& search) { return !search.step.findings.empty(); });
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

std::vector<Localisation> localise(const RunSummary& report, const Json& plan) {
  const Hosts order = hosts_of_plan(plan);
  const std::optional<SearchBudget> budget = search_budget(plan);
  std::vector<Localisation> list;
  BudgetShare share(report, budget);
  for (Incident& incident : incidents(report)) {
    Localisation one{std::move(incident), {}};
    one.explained_by = known_cause(one.incident, list);
    if (!one.explained_by.empty() && one.incident.searched == 0) {
      list.push_back(std::move(one));
      continue;
    }
    one.explained_by.clear();
    advance_search(order, share, one);
    list.push_back(std::move(one));
  }
  if (!budget) std::erase_if(list, [](const Localisation& one) { return !has_conclusion(one); });
  return list;
}

bool goes_on(const Localisation& one) {
  return !one.step.next.empty() || std::ranges::any_of(one.devices, [](const DeviceSearch& search) {
    return !search.next.empty();
  });
}

bool is_spent(const Localisation& one) {
  return one.spent || std::ranges::any_of(one.devices, &DeviceSearch::spent);
}

bool is_settled(const Localisation& one) {
  return !one.step.findings.empty() && one.step.open.empty() && !one.spent &&
         std::ranges::all_of(one.step.findings, isolates_cause);
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
