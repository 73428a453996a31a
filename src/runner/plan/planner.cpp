#include "runner/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "core/error.h"
#include "runner/plan/scopes.h"
#include "runner/plan/variants.h"

namespace bench {
namespace {

MeasureSettings measure_of(const Suite& suite, const Case& suite_case) {
  Json settings = to_json(MeasureSettings{});
  settings.update(suite.measure);
  settings.update(suite_case.measure);
  return measure_settings_from_json(settings);
}

TelemetrySettings telemetry_of(const Suite& suite, const Case& suite_case) {
  Json settings = to_json(TelemetrySettings{});
  settings.update(suite.telemetry);
  settings.update(suite_case.telemetry);
  return telemetry_settings_from_json(settings);
}

/// Common to all jobs of a variant, which differ only in hosts: there may be 100,000 host sets.
struct Pattern {
  Job job;
  Json axes = Json::object();
  std::string binding;
  std::vector<Place> places = {};        // of each host of the inventory
  std::map<int, Seconds> expected = {};  // by the number of ranks
};

Pattern pattern_of(const Suite& suite, const Case& suite_case, const Variant& variant,
                   const Inventory& inventory) {
  Pattern pattern;
  Job& job = pattern.job;
  job.case_name = suite_case.name;
  job.probe = suite_case.probe;
  job.device = suite_case.device;
  job.params = variant.params;
  job.env = variant.env;
  job.timeout_s = suite_case.timeout_s;
  job.measure = measure_of(suite, suite_case);
  job.telemetry = telemetry_of(suite, suite_case);
  pattern.axes = variant.choice;
  pattern.binding = chosen(variant, "binding", suite_case.binding).get<std::string>();
  const Json ranks = chosen(variant, "ranks_per_host", suite_case.ranks_per_host);
  for (const Host& host : inventory.hosts)
    pattern.places.push_back(place_on(host, ranks.is_string() ? host.slots : ranks.get<int>()));
  return pattern;
}

/// A job of the pattern, and where its ranks go.
PlanEntry entry_on(const HostSet& set, const Pattern& pattern) {
  PlanEntry entry;
  entry.job = pattern.job;
  entry.axes = pattern.axes;
  Job& job = entry.job;
  job.ranks = 0;
  job.hosts.reserve(set.hosts.size());
  entry.places.reserve(set.hosts.size());
  // A single rank has the whole host, and the kernel best places ranks that share CPUs.
  bool pinned = true;
  for (const std::size_t index : set.hosts) {
    const Place& place = entry.places.emplace_back(pattern.places[index]);
    job.hosts.push_back(place.host);
    job.ranks += place.ranks;
    pinned &= place.ranks > 1 && place.ranks <= place.slots;
  }
  job.binding = pinned ? pattern.binding : "none";
  job.part = set.part;
  for (const auto& [name, value] : set.env) job.env[name] = value;
  return entry;
}

/// Estimated number of series of a job: lists sweep inside it.
double series_of(const Json& params) {
  double count = 1.0;
  for (const auto& [name, value] : params.items())
    if (value.is_array() && !value.empty()) count *= static_cast<double>(value.size());
  return count;
}

/// The last duration; else half of the limits per series, as most reach their interval earlier. For a
/// probe that runs to a target only the timeout is known.
Seconds expected_time(const Job& job, const ProbeEntry& probe, const Durations& durations) {
  if (const auto last = durations.find(duration_key(job)); last != durations.end())
    return last->second;
  if (probe.params.json().value("open_ended", false)) return {job.timeout_s};
  const double series = 0.5 * (job.measure.max_time_s + job.measure.warm_up_max_s);
  return {std::min(job.timeout_s, series * series_of(job.params))};
}

/// Jobs of a pattern differ only in the number of ranks.
Seconds expected_time(const Job& job, Pattern& pattern, const ProbeEntry& probe,
                      const Durations& durations) {
  const auto [known, is_new] = pattern.expected.try_emplace(job.ranks);
  if (is_new) known->second = expected_time(job, probe, durations);
  return known->second;
}

/// "03.gemm.2": case number, case name, and job number if there are several.
void name_jobs(std::span<PlanEntry> jobs, std::size_t case_number, std::size_t cases) {
  const auto width = std::max<std::size_t>(2, std::to_string(cases).size());
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    Job& job = jobs[k].job;
    job.id = fmt::format("{:0{}}.{}", case_number, width, job.case_name);
    if (jobs.size() > 1)
      job.id += fmt::format(".{:0{}}", k + 1, std::to_string(jobs.size()).size());
  }
}

/// Probe parameters restrict NCCL to the rail's card. Cards with different names per host are passed by
/// the environment only.
Case on_rail(const Case& suite_case, const HostSet& set, const ProbeEntry& probe) {
  Case narrowed = suite_case;
  const auto takes = [&](const char* name) {
    return suite_case.device == "cuda" && probe.params.json().at("properties").contains(name) &&
           !suite_case.params.contains(name) && !suite_case.axes.contains(name);
  };
  if (takes("isolation")) narrowed.params["isolation"] = "network";
  if (takes("network_card") && set.part.contains("card"))
    narrowed.params["network_card"] = set.part["card"];
  return narrowed;
}

std::vector<Pattern> patterns(const Suite& suite, const Case& suite_case, const ProbeEntry& probe,
                              const Inventory& inventory) {
  std::vector<Pattern> result;
  for (const Variant& variant : variants(suite, suite_case, probe))
    result.push_back(pattern_of(suite, suite_case, variant, inventory));
  return result;
}

/// Adds the jobs of a case, without IDs.
void expand(const Suite& suite, const Case& suite_case, const Inventory& inventory,
            const ProbeEntry& probe, const LaunchSite& site, const Durations& durations,
            std::vector<PlanEntry>& jobs) {
  const auto sets = host_sets(suite_case.scope, inventory, suite_case.device);
  auto of_case = patterns(suite, suite_case, probe, inventory);
  const std::size_t count =
      sets.size() * of_case.size() * static_cast<std::size_t>(suite_case.repeat);
  if (count > kMostJobs) throw too_many_jobs(suite_case.name);
  jobs.reserve(jobs.size() + count);
  for (const HostSet& set : sets) {
    if (suite_case.scope.kind == ScopeKind::rail)
      of_case = patterns(suite, on_rail(suite_case, set, probe), probe, inventory);
    for (Pattern& pattern : of_case)
      for (int repeat = 0; repeat < suite_case.repeat; ++repeat) {
        PlanEntry& entry = jobs.emplace_back(entry_on(set, pattern));
        entry.job.repeat = repeat;
        entry.job.seed = static_cast<std::uint64_t>(repeat) + 1;
        entry.cooldown = Seconds{suite_case.cooldown_s};
        entry.skip = launch_obstacle(entry.job, entry.places, site);
        if (entry.skip.empty()) entry.skip = set.obstacle;
        if (entry.skip.empty())
          entry.expected = expected_time(entry.job, pattern, probe, durations);
      }
  }
}

}  // namespace

Place place_on(const Host& host, int ranks) {
  return {host.name, host.address, ranks, host.slots, is_this_host(host)};
}

Plan make_plan(const Suite& suite, const Inventory& inventory, const ProbeCatalogue& catalogue,
               const LaunchSite& site, const Durations& durations) {
  Plan plan;
  plan.suite = suite;
  plan.inventory = inventory;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const Case& suite_case = suite.cases[i];
    const std::size_t before = plan.entries.size();
    expand(suite, suite_case, inventory, *catalogue.find(suite_case.probe), site, durations,
           plan.entries);
    const auto jobs = std::span(plan.entries).subspan(before);
    name_jobs(jobs, i + 1, suite.cases.size());
    for (const PlanEntry& entry : jobs) plan.expected += entry.expected;
    if (!suite_case.gates.empty()) plan.gates[suite_case.name] = suite_case.gates;
  }
  return plan;
}

}  // namespace bench
