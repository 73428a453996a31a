#include "results/verdicts/peers/observations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "results/run/dimensions.h"
#include "results/run/metric_catalogue.h"

namespace bench {
namespace {

// A healthy computing rank gets nearly all of its CPU time; synchronising threads costs some.
constexpr double kStarved = 0.8;
constexpr double kNobodyElse = 0.05;
// The kernel accounts CPU time in ticks of 10 ms, and Crowding ignores two of them: below this loss
// the accounts cannot show that no other process used it.
constexpr double kUnseenS = 0.03;

/// Alone on its cores, yet without their CPU time, which no other process used.
bool is_starved(const Series& series) {
  if (series.ranks != 1 || series.device != "host" || !series.quality.cpu_share) return false;
  const Quality& quality = series.quality;
  const double throttled_s = quality.throttled_s.value_or(0.0);
  if (withheld_share(quality) > kWithheldShare) return true;
  if (*quality.cpu_share >= kStarved) return false;
  if (throttled_s > kThrottledS) return true;
  if ((1.0 - *quality.cpu_share) * quality.wall_s.value_or(1.0) < kUnseenS) return false;
  return quality.others_share && *quality.others_share < kNobodyElse &&
         quality.steal_share.value_or(0.0) < kNobodyElse;
}

std::string disturbance(const Series& series) {
  std::vector<std::string> flags;
  for (const auto& [name, count] : series.flags) flags.push_back(fmt::format("{} {}", count, name));
  return fmt::format("0 of {} samples are clean ({})", series.n, join(flags, ", "));
}

/// A rank that waits for another host sleeps and wakes up late in every call, so between hosts only
/// a crowded machine disturbs a run; wake-up latency shows in the scatter.
bool is_disturbed(const Series& series, std::size_t hosts) {
  if (series.clean > 0) return false;
  const auto crowded = series.flags.find("crowded");
  return hosts == 1 || (crowded != series.flags.end() && crowded->second > 0);
}

Observation observe(const Series& series, std::size_t hosts) {
  Observation seen;
  seen.best = series.better == Better::lower ? series.min : series.max;
  seen.outcome = series.outcome;
  seen.starved = is_starved(series);
  seen.cpu_share = series.quality.cpu_share;
  seen.throttled_s = series.quality.throttled_s;
  seen.limit = series.limit;
  seen.job = series.job;
  seen.value = series.median;
  if (seen.starved)
    seen.value = series.better == Better::lower ? series.median / std::max(*seen.cpu_share, 1e-3)
                                                : series.median * *seen.cpu_share;
  if (series.outcome != Status::ok)
    seen.why = std::string(to_string(series.outcome)) + ": " + series.reason;
  else if (!std::isfinite(series.median) || series.median <= 0.0)
    seen.why = "no value";
  else if (is_disturbed(series, hosts) && !seen.starved)
    seen.rough = true, seen.why = disturbance(series);
  seen.usable = seen.why.empty();
  return seen;
}

std::string observation_key(const PlannedJob& job, const Series& series) {
  const int rank = series.over == "rank" ? series.rank : -1;
  return dump(Json::array({series.case_name, series.metric, whole_params(job, series),
                           series.device, series.ranks, series.over, rank}));
}

}  // namespace

Json whole_params(const PlannedJob& job, const Series& series) {
  Json params = Json::object();
  for (const auto& [name, value] : job.params.items())
    if (value.is_primitive()) params[name] = value;
  params.update(series.params);
  return params;
}

std::vector<double> MetricRuns::values(const Hosts& hosts) const {
  std::vector<double> found;
  if (const auto runs = by_hosts.find(hosts); runs != by_hosts.end())
    for (const Observation& seen : runs->second)
      if (seen.usable) found.push_back(seen.value);
  return found;
}

double MetricRuns::best(const Hosts& hosts) const {
  double found = kNoValue;
  if (const auto runs = by_hosts.find(hosts); runs != by_hosts.end())
    for (const Observation& seen : runs->second)
      if (seen.usable || seen.rough)
        found = better == Better::lower ? std::fmin(found, seen.best) : std::fmax(found, seen.best);
  return found;
}

std::string MetricRuns::title() const {
  return name.empty() ? with_dimensions(metric, params) : name;
}

namespace {

/// Short names; those that several cases share have the case in front.
void set_names(std::vector<MetricRuns>& metrics) {
  std::vector<std::pair<std::string, Json>> keys;
  for (const MetricRuns& metric : metrics) keys.emplace_back(metric.metric, metric.params);
  const std::vector<std::string> names = short_names(keys);
  std::map<std::string, std::set<std::string>> cases;  // by name
  for (std::size_t i = 0; i < metrics.size(); ++i) cases[names[i]].insert(metrics[i].case_name);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    metrics[i].name =
        cases[names[i]].size() == 1 ? names[i] : metrics[i].case_name + ": " + names[i];
}

}  // namespace

std::vector<MetricRuns> observations(const std::vector<RunSummary>& reports,
                                     const std::map<std::string, double>& thresholds) {
  std::vector<MetricRuns> metrics;
  std::map<std::string, std::size_t> position;
  for (const RunSummary& report : reports) {
    const PlannedJobs jobs = jobs_by_id(report);
    for (const Result& result : report.results) {
      const Series& series = result.series;
      const auto job = jobs.find(series.job);
      if (series.metric.empty() || series.better == Better::none || job == jobs.end()) continue;
      const auto threshold = practical_threshold(series.metric, thresholds);
      if (!threshold) continue;
      const auto [slot, is_new] =
          position.try_emplace(observation_key(*job->second, series), metrics.size());
      if (is_new)
        metrics.push_back({series.case_name,
                           series.metric,
                           series.params,
                           series.unit,
                           series.better,
                           *threshold,
                           *threshold,
                           {},
                           whole_params(*job->second, series),
                           series.device,
                           series.ranks});
      metrics[slot->second].by_hosts[job->second->hosts].push_back(
          observe(series, job->second->hosts.size()));
    }
  }
  set_names(metrics);
  return metrics;
}

}  // namespace bench
