#include "runner/dispatch/search_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/job.h"
#include "core/log.h"
#include "core/text.h"
#include "results/run/run_records.h"
#include "results/run/run_summary.h"
#include "runner/plan/plan_json.h"

namespace bench {
namespace {

/// Ranks per host as in the searched job.
int ranks_on(const std::string& host, const PlanEntry& searched) {
  for (const Place& place : searched.places)
    if (place.host == host) return place.ranks;
  return searched.places.empty() ? 1 : searched.places.front().ranks;
}

/// The searched job on these hosts, with the same ranks per host or one per GPU.
PlanEntry on_hosts(const PlanEntry& searched, const Hosts& hosts, const Devices& devices,
                   const Inventory& inventory) {
  PlanEntry entry = searched;
  entry.job.hosts = hosts;
  entry.job.case_name += ".search";
  entry.job.ranks = 0;
  entry.job.limits.clear();
  entry.places.clear();
  for (const std::string& name : hosts) {
    const auto host = std::ranges::find(inventory.hosts, name, &Host::name);
    if (host == inventory.hosts.end())
      throw Error(ErrorKind::internal, "search host is not in the plan: " + name);
    const int ranks = devices.empty() ? ranks_on(name, searched) : static_cast<int>(devices.size());
    entry.places.push_back(place_on(*host, ranks));
    entry.job.ranks += entry.places.back().ranks;
  }
  if (devices.empty()) return entry;
  entry.job.part["device"] = device_words(devices);
  entry.job.env[kDeviceVariable] = device_words(devices);
  if (devices.size() == 1) entry.job.binding = "none";  // a single rank has the whole host
  return entry;
}

/// The next jobs of the search: hosts first, then their GPUs.
std::vector<DeviceJob> next_jobs(const Localisation& search) {
  std::vector<DeviceJob> jobs;
  for (const Hosts& hosts : search.step.next) jobs.push_back({hosts});
  for (const DeviceSearch& of_host : search.devices)
    jobs.insert(jobs.end(), of_host.next.begin(), of_host.next.end());
  return jobs;
}

std::vector<Localisation> searches_of(const RunRecords& run) {
  return localise(make_run_summary(run), run.plan);
}

std::string description(const DeviceJob& job) {
  const std::string hosts = compact_hostlist(job.hosts);
  return job.devices.empty() ? hosts : compact_hostlist(job.devices) + " of " + hosts;
}

}  // namespace

void set_search(RunRequest& request, const std::optional<SearchBudget>& budget) {
  request.localisation = budget ? to_json(*budget) : Json();
  request.follow_up = {};
  if (budget)
    request.follow_up = [run = RunRecords()](const RunDirectory& directory) mutable {
      if (run.run != directory.id()) run = {};
      read_appended(directory.path(), run);
      return plan_searches(directory, searches_of(run));
    };
}

bool search_goes_on(const RunRecords& run) {
  return std::ranges::any_of(searches_of(run), goes_on);
}

std::vector<PlanEntry> search_entries(const std::vector<Localisation>& searches, const Plan& plan) {
  std::vector<PlanEntry> entries;
  for (const Localisation& search : searches) {
    const auto searched = std::ranges::find(plan.entries, search.incident.job,
                                            [](const PlanEntry& entry) { return entry.job.id; });
    if (searched == plan.entries.end()) continue;
    std::size_t number = search.incident.searched;
    for (const DeviceJob& job : next_jobs(search)) {
      entries.push_back(on_hosts(*searched, job.hosts, job.devices, plan.inventory));
      entries.back().job.id = fmt::format("{}.search.{}", search.incident.job, ++number);
      entries.back().expected = Seconds{search.incident.longest_s};
      say(Level::info,
          printable(fmt::format("search: {} on {}", search.incident.case_name, description(job))));
    }
  }
  return entries;
}

std::vector<PlanEntry> plan_searches(const RunDirectory& directory,
                                     const std::vector<Localisation>& searches) {
  if (std::ranges::none_of(searches, goes_on)) return {};
  const auto file = directory.path() / "plan.json";
  Json json = read_json(file);
  Plan plan = plan_from_json(json, file.string());
  std::vector<PlanEntry> entries = search_entries(searches, plan);
  plan.expected = Seconds{json.value("expected_s", 0.0)};
  for (const Localisation& search : searches)
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
