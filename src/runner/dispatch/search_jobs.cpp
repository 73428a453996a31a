#include "runner/dispatch/search_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/plan/plan_json.h"

namespace bench {
namespace {

/// Ranks of a host as the searched job has them there, or on its first host.
int ranks_on(const std::string& host, const PlanEntry& searched) {
  for (const Place& place : searched.places)
    if (place.host == host) return place.ranks;
  return searched.places.empty() ? 1 : searched.places.front().ranks;
}

PlanEntry on_hosts(const PlanEntry& searched, const Hosts& hosts, const Inventory& inventory) {
  PlanEntry entry = searched;
  entry.job.hosts = hosts;
  entry.job.case_name += ".search";
  entry.job.ranks = 0;
  entry.job.limits.clear();
  entry.places.clear();
  for (const std::string& name : hosts) {
    const auto host = std::ranges::find(inventory.hosts, name, &Host::name);
    if (host == inventory.hosts.end())
      throw Error(ErrorKind::internal, "the search names a host that the plan has not: " + name);
    entry.places.push_back(place_on(*host, ranks_on(name, searched)));
    entry.job.ranks += entry.places.back().ranks;
  }
  return entry;
}

}  // namespace

bool search_goes_on(const RunReport& report) {
  return std::ranges::any_of(report.localisations,
                             [](const Localisation& one) { return !one.step.next.empty(); });
}

std::vector<PlanEntry> search_entries(const std::vector<Localisation>& searches, const Plan& plan) {
  std::vector<PlanEntry> entries;
  for (const Localisation& search : searches) {
    const auto searched = std::ranges::find(plan.entries, search.incident.job,
                                            [](const PlanEntry& entry) { return entry.job.id; });
    if (searched == plan.entries.end()) continue;
    std::size_t number = search.incident.searched;
    for (const Hosts& hosts : search.step.next) {
      entries.push_back(on_hosts(*searched, hosts, plan.inventory));
      entries.back().job.id = fmt::format("{}.search.{}", search.incident.job, ++number);
      entries.back().expected = Seconds{search.incident.longest_s};
      say(Level::info, printable(fmt::format("search: {} on {}", search.incident.case_name,
                                             compact_hostlist(hosts))));
    }
  }
  return entries;
}

std::vector<PlanEntry> plan_searches(const RunDirectory& directory, const RunReport& report) {
  if (!search_goes_on(report)) return {};
  const auto file = directory.path() / "plan.json";
  Json json = read_json(file);
  Plan plan = plan_from_json(json, file.string());
  std::vector<PlanEntry> entries = search_entries(report.localisations, plan);
  plan.expected = Seconds{json.value("expected_s", 0.0)};
  for (const Localisation& search : report.localisations)
    for (const PlanEntry& entry : entries)
      if (entry.job.id.starts_with(search.incident.job + ".search."))
        json["localisation"]["jobs"][entry.job.id] = search.incident.job;
  plan.entries.insert(plan.entries.end(), entries.begin(), entries.end());
  json.erase("jobs");
  json.erase("skipped");
  directory.write_plan(plan_text(plan, std::move(json)));
  return entries;
}

}  // namespace bench
