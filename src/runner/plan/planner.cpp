#include "runner/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/record.h"
#include "results/run/run_records.h"
#include "runner/plan/scopes.h"
#include "runner/plan/suite.h"
#include "runner/plan/suite_check.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

// Expands a case's axes: one variant per combination of values, the same on all hosts.

/// Maximum jobs per case: all pairs of 512 hosts, seven times.
inline constexpr std::size_t kMostJobs = 1'000'000;

/// A combination of axis values and the resulting probe parameters.
struct Variant {
  std::map<std::string, Json> choice;  // axis -> value
  Json params;                         // complete, with defaults
  std::map<std::string, std::string> env;
};

/// The Error(input) for a case with more.
Error too_many_jobs(const std::string& case_name) {
  return {ErrorKind::input,
          fmt::format("case '{}' expands to more than {} jobs", case_name, kMostJobs),
          "use lists in params, which sweep inside one job, instead of axes and repeat"};
}

/// One value from each axis.
using Choice = std::map<std::string, Json>;

std::vector<Choice> axis_choices(const std::map<std::string, Json>& axes,
                                 const std::string& case_name) {
  std::vector<Choice> result = {{}};
  for (const auto& [name, values] : axes) {
    if (result.size() * values.size() > kMostJobs) throw too_many_jobs(case_name);
    std::vector<Choice> longer;
    for (const Choice& choice : result)
      for (const Json& value : values) {
        longer.push_back(choice);
        longer.back()[name] = value;
      }
    result = std::move(longer);
  }
  return result;
}

Json params_of(const Case& suite_case, const Choice& choice) {
  Json params = suite_case.params;
  for (const auto& [name, value] : choice)
    if (!is_launch_axis(name)) params[name] = value;
  return params;
}

/// Jobs with equal environment share a process: values that need a separate process go there.
std::map<std::string, std::string> environment_of(const Case& suite_case, const ProbeEntry& probe,
                                                  const Json& params) {
  std::map<std::string, std::string> environment = suite_case.env;
  environment.insert(probe.environment.begin(),
                     probe.environment.end());  // the case's environment wins
  const Json& properties = probe.params.json().at("properties");
  for (const std::string& name : probe.process_params) {
    const Json& value = params.at(name);
    if (value == properties.at(name).value("default", Json())) continue;
    environment["BENCH_PARAM_" + name] = text_of(value);
  }
  return environment;
}

/// Throws Error(input) for too many jobs.
std::vector<Variant> variants(const Suite& suite, const Case& suite_case, const ProbeEntry& probe) {
  std::vector<Variant> result;
  for (Choice& choice : axis_choices(suite_case.axes, suite_case.name)) {
    Json params = complete_params(probe, params_of(suite_case, choice),
                                  suite.path + ": case '" + suite_case.name + "'", "");
    auto env = environment_of(suite_case, probe, params);
    result.push_back({std::move(choice), std::move(params), std::move(env)});
  }
  return result;
}

/// The value chosen for an axis, else `otherwise`.
Json chosen(const Variant& variant, const std::string& axis, const Json& otherwise) {
  const auto found = variant.choice.find(axis);
  return found == variant.choice.end() ? otherwise : found->second;
}

}  // namespace
namespace fs = std::filesystem;
namespace {

/// Job ID -> seconds, from outcomes only: samples may be many megabytes.
std::map<std::string, Seconds> outcome_times(const fs::path& records) {
  std::map<std::string, Seconds> times;
  const std::string text = read_file(records);
  constexpr std::string_view kOutcome = "\"kind\":\"outcome\"";
  for (auto at = text.find(kOutcome); at != std::string::npos; at = text.find(kOutcome, at + 1)) {
    const auto begin = text.rfind('\n', at) + 1;  // npos + 1 is 0: the first line
    const auto end = std::min(text.find('\n', at), text.size());
    const Record record = record_from_json(parse_json(text.substr(begin, end - begin), "records"));
    if (const auto* outcome = std::get_if<Outcome>(&record.body);
        outcome && outcome->status == Status::ok)
      times[record.job] = Seconds{outcome->seconds};
  }
  return times;
}

template <class AnyJob>
std::string key_of(const AnyJob& job) {
  const Json& params = job.params;
  return dump(Json{job.case_name, job.probe, job.device, params, job.ranks});
}

Durations durations_of(const fs::path& run) {
  const auto times = outcome_times(run / "records.jsonl");
  Durations durations;
  for (const PlannedJob& job : read_planned(run).jobs)
    if (const auto time = times.find(job.id); time != times.end())
      durations[key_of(job)] = time->second;
  return durations;
}

/// "20261120T183005Z-smoke-1a2b"
bool is_of_suite(const std::string& id, const std::string& suite) {
  constexpr std::size_t kTime = 17, kSuffix = 5;
  return id.size() == kTime + suite.size() + kSuffix && id.compare(kTime, suite.size(), suite) == 0;
}

}  // namespace

std::string duration_key(const Job& job) { return key_of(job); }

Durations last_durations(const fs::path& runs, const std::string& suite) {
  try {
    const auto ids = all_runs(runs);
    const auto newest = std::find_if(ids.rbegin(), ids.rend(),
                                     [&](const auto& id) { return is_of_suite(id, suite); });
    return newest == ids.rend() ? Durations{} : durations_of(runs / *newest);
  } catch (const std::exception&) {
    return {};  // old or damaged run
  }
}

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
  SharedJson axes;
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
  pattern.axes = Json(variant.choice);
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

/// The last duration; else half of the limits per series, as most reach their interval earlier. For
/// a probe that runs to a target only the timeout is known.
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
  const std::string case_digits = fmt::format("{:0{}}.", case_number, width);
  const std::size_t digits = std::to_string(jobs.size()).size();
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    Job& job = jobs[k].job;
    job.id = case_digits + job.case_name;
    if (jobs.size() == 1) continue;
    const std::string number = std::to_string(k + 1);
    job.id.append(1, '.').append(digits - number.size(), '0').append(number);
  }
}

/// Probe parameters restrict NCCL to the rail's card. Cards with different names per host are
/// passed by the environment only.
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
  const std::size_t first = jobs.size();
  jobs.reserve(first + count);
  for (const HostSet& set : sets) {
    if (suite_case.scope.kind == ScopeKind::rail)
      of_case = patterns(suite, on_rail(suite_case, set, probe), probe, inventory);
    for (Pattern& pattern : of_case) {
      PlanEntry& entry = jobs.emplace_back(entry_on(set, pattern));
      entry.cooldown = Seconds{suite_case.cooldown_s};
      entry.skip = launch_obstacle(entry.job, entry.places, site);
      if (entry.skip.empty()) entry.skip = set.obstacle;
      if (entry.skip.empty()) entry.expected = expected_time(entry.job, pattern, probe, durations);
    }
  }
  // Repeats are rounds over the whole case: a disturbance does not hit all repeats of one set.
  const std::size_t end = jobs.size();
  for (int repeat = 1; repeat < suite_case.repeat; ++repeat)
    for (std::size_t k = first; k < end; ++k) {
      Job& job = jobs.emplace_back(PlanEntry(jobs[k])).job;
      job.repeat = repeat;
      job.seed = static_cast<std::uint64_t>(repeat) + 1;
    }
}

}  // namespace

Place place_on(const Host& host, int ranks) {
  return {host.name, host.address, ranks, host.slots, is_this_host(host)};
}

namespace {

/// An axis of a parameter with variables has one set of them for each of its values.
void hide_case_secrets(Case& suite_case, Secrets& secrets) {
  hide_secrets(suite_case.env, secrets);
  hide_secrets(suite_case.params, secrets);
  for (auto& [name, values] : suite_case.axes)
    for (Json& value : values) {
      Json params = {{name, std::move(value)}};
      hide_secrets(params, secrets);
      value = std::move(params[name]);
    }
}

}  // namespace

Plan make_plan(const Suite& suite, const Inventory& inventory, const ProbeCatalogue& catalogue,
               const LaunchSite& site, const Durations& durations) {
  Plan plan;
  plan.suite = suite;
  plan.inventory = inventory;
  hide_secrets(plan.inventory.launch.env, plan.secrets);
  for (Case& suite_case : plan.suite.cases) hide_case_secrets(suite_case, plan.secrets);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const Case& suite_case = plan.suite.cases[i];
    const std::size_t before = plan.entries.size();
    expand(suite, suite_case, inventory, *catalogue.find(suite_case.probe), site, durations,
           plan.entries);
    const auto jobs = std::span(plan.entries).subspan(before);
    name_jobs(jobs, i + 1, suite.cases.size());
    for (const PlanEntry& entry : jobs) plan.expected += entry.expected;
    if (!suite_case.gates.empty()) plan.gates[suite_case.name] = suite_case.gates;
  }
  // An acceptance compares hosts: its repeats are rounds over the whole suite, far apart in time.
  if (repeats_in_rounds(suite))
    std::ranges::stable_sort(plan.entries, {},
                             [](const PlanEntry& entry) { return entry.job.repeat; });
  return plan;
}

Plan without_entries(const Plan& whole) {
  Plan plan;
  plan.suite = whole.suite;
  plan.inventory = whole.inventory;
  plan.gates = whole.gates;
  plan.secrets = whole.secrets;
  return plan;
}

}  // namespace bench
