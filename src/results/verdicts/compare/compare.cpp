#include "results/verdicts/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/disclaimer.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/run/dimensions.h"
#include "results/run/metric_catalogue.h"
#include "results/stats/false_discovery.h"
#include "results/verdicts/compare/compared_values.h"
#include "results/verdicts/compare/one_metric.h"

namespace bench {
namespace {

/// Few enough to be read run by run.
constexpr std::size_t kRunsOfNoise = 8;

std::set<std::int64_t> runs_of(const Side& side) {
  std::set<std::int64_t> runs;
  for (const auto& [key, units] : side.metrics)
    for (const auto& [unit, points] : units)
      for (const Point& point : points) runs.insert(point.run);
  return runs;
}

/// Ids of the newest runs before the last of `taken` that are not among them.
std::vector<std::string> other_runs(const Histories& histories,
                                    const std::set<std::int64_t>& taken) {
  std::vector<std::string> ids;
  const auto all = histories.runs({});
  for (auto run = all.rbegin(); run != all.rend() && ids.size() < kRunsOfNoise; ++run)
    if (!taken.empty() && *run < *taken.rbegin() && !taken.contains(*run))
      ids.push_back(histories.run(*run).id);
  return ids;
}

struct Pool {
  double squares = 0.0, degrees = 0.0;
};

void add_unit(const SeriesHistory& history, Pool& pool) {
  std::vector<double> logs;
  for (const Point& point : history.points)
    if (point.value > 0.0) logs.push_back(std::log(point.value));
  if (logs.size() < 2) return;
  const double deviation = standard_deviation(logs);
  pool.squares += deviation * deviation * static_cast<double>(logs.size() - 1);
  pool.degrees += static_cast<double>(logs.size() - 1);
}

}  // namespace

bool needs_run_noise(const Side& a, const Side& b) { return a.runs == 1 && b.runs == 1; }

std::map<MetricKey, RunNoise> run_noise(const Histories& histories, const Side& a, const Side& b) {
  std::map<MetricKey, RunNoise> noise;
  std::set<std::int64_t> taken = runs_of(a);
  taken.merge(runs_of(b));
  const auto ids = other_runs(histories, taken);
  if (ids.size() < 2) return noise;
  std::map<MetricKey, Pool> pools;
  histories.each({.runs = ids}, [&](const SeriesHistory& history) {
    const MetricKey key = metric_key(history.key);
    const auto compared = a.metrics.find(key);
    if (compared != a.metrics.end() &&
        compared->second.contains({history.key.host, history.key.device}))
      add_unit(history, pools[key]);
  });
  for (const auto& [key, pool] : pools)
    if (pool.degrees > 0.0) noise[key] = {std::sqrt(pool.squares / pool.degrees), pool.degrees};
  return noise;
}

namespace {

std::string title_of(const MetricKey& key) {
  Json params = try_parse_json(key.params).value_or(Json::object());
  if (key.ranks > 1) params["ranks"] = key.ranks;
  return with_dimensions(key.metric, params);
}

/// Derived from another metric of its series, or a description of the measurement.
bool is_derived(const MetricKey& key) { return !practical_threshold(key.metric); }

std::string percent_words(double share) { return fmt::format("{:.3g} %", 100.0 * share); }

/// Why a metric is inconclusive.
std::string why_inconclusive(const ComparedMetric& metric) {
  if (metric.basis == Basis::none && metric.a.n + metric.b.n > 2)
    return fmt::format("too few runs for a confidence interval ({} and {})", metric.a.n,
                       metric.b.n);
  if (metric.basis == Basis::none)
    return "one run per side with fewer than six samples: no confidence interval";
  if (!std::isfinite(metric.low))
    return "noise: the confidence interval spans both no change and the threshold";
  return fmt::format(
      "noise: the confidence interval [{}, {}] spans both no change and the {} threshold",
      percent_words(metric.low - 1.0), percent_words(metric.high - 1.0),
      percent_words(metric.threshold));
}

std::size_t needed(const ComparedMetric& metric, std::size_t family) {
  const bool paired = metric.basis == Basis::pairs;
  const double threshold = -std::log1p(-metric.threshold);
  const double effect = metric.ratio > 0.0 ? std::abs(std::log(metric.ratio)) : 0.0;
  // An interval half as wide either excludes no change or lies within the threshold.
  const double margin = std::max(effect, threshold - effect);
  return std::isfinite(metric.deviation) ? runs_needed(metric.deviation, margin, paired, family)
                                         : fewest_values(paired, family);
}

std::string share_of_hosts(const ComparedMetric& metric) {
  return fmt::format("{} of {} hosts or devices changed", metric.hosts.size(), metric.hosts_tested);
}

/// Keeps the changes of single hosts that are no chance over all metrics. A metric with one is not
/// equivalent, whatever its typical host does.
void judge_hosts_as_family(std::vector<ComparedMetric>& metrics, double level) {
  std::vector<double> p;
  for (const ComparedMetric& metric : metrics)
    if (metric.hosts_tested > 0) p.push_back(metric.host_p);
  const auto q = adjusted_bh(p);
  auto next = q.begin();
  for (ComparedMetric& metric : metrics) {
    if (metric.hosts_tested > 0) metric.host_q = *next++;
    // Few hosts are not compared with each other, so that all may have changed alike.
    const bool few = metric.basis != Basis::pairs;
    std::erase_if(metric.hosts, [&](const HostChange& host) {
      return !(metric.host_q <= level) || host.p > level || (few && host.verdict == metric.verdict);
    });
    if (metric.hosts.empty() || metric.verdict != ChangeVerdict::equivalent) continue;
    metric.verdict = ChangeVerdict::changed;
    metric.why = "the typical host is equivalent, but " + share_of_hosts(metric);
  }
}

/// Controls the false discovery rate over all comparisons, then states what inconclusive metrics
/// need.
void judge_as_family(Comparison& comparison, double level) {
  std::vector<double> p;
  for (const ComparedMetric& metric : comparison.metrics)
    if (std::isfinite(metric.p)) p.push_back(metric.p);
  comparison.tested = p.size();
  const auto q = adjusted_bh(p);
  auto next = q.begin();
  for (ComparedMetric& metric : comparison.metrics) {
    if (std::isfinite(metric.p)) metric.q = *next++;
    const bool discovery = metric.verdict != ChangeVerdict::equivalent &&
                           metric.verdict != ChangeVerdict::inconclusive;
    if (discovery && metric.q > level) {
      metric.verdict = ChangeVerdict::inconclusive;
      metric.why = fmt::format("may be chance: one of {} comparisons, q = {:.2g}",
                               comparison.tested, metric.q);
    } else if (metric.verdict == ChangeVerdict::inconclusive) {
      metric.why = why_inconclusive(metric);
    } else if (metric.verdict == ChangeVerdict::changed && metric.why.empty()) {
      metric.why =
          metric.key.better == Better::none
              ? "neither direction is better"
              : "not shown to exceed the " + percent_words(metric.threshold) + " threshold";
    }
    if (metric.verdict == ChangeVerdict::inconclusive)
      metric.n_needed = needed(metric, comparison.tested);
  }
}

int rank_of(ChangeVerdict verdict) {
  constexpr std::array kOrder = {ChangeVerdict::regressed, ChangeVerdict::improved,
                                 ChangeVerdict::changed, ChangeVerdict::inconclusive,
                                 ChangeVerdict::equivalent};
  return static_cast<int>(std::ranges::find(kOrder, verdict) - kOrder.begin());
}

double effect_over_threshold(const ComparedMetric& metric) {
  const double effect = std::abs(std::log(metric.ratio)) / metric.threshold;
  return std::isfinite(effect) ? effect : 0.0;
}

std::string all_hardware(const Side& side) {
  const std::set<std::string> products = hardware_of(side);
  return join({products.begin(), products.end()}, ", ");
}

void set_per_dollar(ComparedMetric& metric, const Side& a, const Side& b) {
  if (!a.price || !b.price || !is_rate(metric.key)) return;
  metric.per_dollar = work_ratio(metric) * *a.price / *b.price;
}

/// Whether metrics would be common but for the accelerator of imported MLPerf results.
bool accelerators_differ(const Side& a, const Side& b) {
  const std::vector<std::string> ignored = {"accelerator"};
  std::set<MetricKey> of_a;
  for (const auto& [key, values] : a.metrics) of_a.insert(without_parameters(key, ignored));
  return std::ranges::any_of(b.metrics, [&](const auto& metric) {
    return !a.metrics.contains(metric.first) &&
           of_a.contains(without_parameters(metric.first, ignored));
  });
}

void add_warnings(Comparison& comparison) {
  if (comparison.price_a.has_value() != comparison.price_b.has_value())
    comparison.warnings.push_back(fmt::format("only {} has a price: no per-dollar comparison",
                                              comparison.price_a ? "A" : "B"));
  std::size_t of_samples = 0, otherwise = 0;
  for (const ComparedMetric& metric : comparison.metrics) {
    of_samples += metric.basis == Basis::samples ? 1 : 0;
    otherwise += metric.changed_settings.empty() ? 0 : 1;
  }
  if (of_samples > 0)
    comparison.warnings.push_back(
        fmt::format("{} of {} metrics have one run per side and no history of run-to-run "
                    "variation: their intervals cover samples within a run only; repeat the runs",
                    of_samples, comparison.metrics.size()));
  if (otherwise > 0)
    comparison.warnings.push_back(fmt::format(
        "{} metrics were measured with different settings on the two sides", otherwise));
  for (const ChangedFact& fact : comparison.facts)
    if (fact.change.fact == "cpu_quota_cores")
      comparison.warnings.push_back(
          fmt::format("CPU quotas differ (cores: {} in A, {} in B): where one throttles, results "
                      "are those of the quota",
                      fact.change.before, fact.change.after));
  if (std::ranges::any_of(comparison.metrics, [](const ComparedMetric& metric) {
        return mlperf::is_imported(metric.key.metric);
      }))
    comparison.warnings.emplace_back(mlperf::kImportedWarning);
}

}  // namespace

std::string_view to_string(Basis basis) {
  constexpr std::array<std::string_view, 7> kNames = {"none",    "pairs",   "runs", "hosts",
                                                      "history", "samples", "exact"};
  return kNames[static_cast<std::size_t>(basis)];
}

std::size_t Comparison::count(ChangeVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(metrics, verdict, &ComparedMetric::verdict));
}

std::size_t Comparison::count_hosts(ChangeVerdict verdict) const {
  std::size_t found = 0;
  for (const ComparedMetric& metric : metrics)
    found +=
        static_cast<std::size_t>(std::ranges::count(metric.hosts, verdict, &HostChange::verdict));
  return found;
}

ExitCode Comparison::exit_code() const {
  if (count(ChangeVerdict::regressed) + count_hosts(ChangeVerdict::regressed) > 0)
    return ExitCode::failed;
  return count(ChangeVerdict::inconclusive) == metrics.size() ? ExitCode::not_measured
                                                              : ExitCode::ok;
}

Comparison compare(const Side& a, const Side& b, const CompareOptions& options) {
  Comparison comparison{.a = a.name, .b = b.name, .runs_a = a.runs, .runs_b = b.runs};
  ChangedFacts facts(a, b);
  for (const auto& [key, values] : a.metrics) {
    if (!options.derived && is_derived(key)) {
      ++comparison.derived;
      continue;
    }
    const auto other = b.metrics.find(key);
    if (other == b.metrics.end()) {
      comparison.only_a.push_back(title_of(key));
      continue;
    }
    comparison.metrics.push_back(compare_metric(key, values, other->second, options));
    set_per_dollar(comparison.metrics.back(), a, b);
    comparison.metrics.back().changed_settings = facts.add(values, other->second);
  }
  for (const auto& [key, values] : b.metrics)
    if (!a.metrics.contains(key) && (options.derived || !is_derived(key)))
      comparison.only_b.push_back(title_of(key));
  judge_as_family(comparison, options.level);
  judge_hosts_as_family(comparison.metrics, options.level);
  comparison.facts = facts.facts();
  const std::string hardware_a = all_hardware(a), hardware_b = all_hardware(b);
  if (hardware_a != hardware_b) {
    comparison.hardware_a = hardware_a;
    comparison.hardware_b = hardware_b;
  }
  comparison.price_a = a.price;
  comparison.price_b = b.price;
  add_warnings(comparison);
  if (comparison.metrics.empty() && accelerators_differ(a, b))
    comparison.warnings.emplace_back(
        "nothing compared: the accelerators of the sides differ, or one side names none (imported "
        "before there were names: import it again); add --ignore accelerator, with one model on "
        "each side");
  std::ranges::stable_sort(comparison.metrics, [](const auto& x, const auto& y) {
    return std::make_tuple(rank_of(x.verdict), -effect_over_threshold(x)) <
           std::make_tuple(rank_of(y.verdict), -effect_over_threshold(y));
  });
  return comparison;
}

namespace {

constexpr double kApart = 0.1;  // in logarithms

bool has_resource(Resource resource) {
  return resource == Resource::compute || resource == Resource::memory ||
         resource == Resource::links;
}

bool is_time_of_work(const std::string& metric) {
  return metric.ends_with(".step_time") || metric.ends_with(".time_to_target");
}

bool counts_per_time(const std::string& metric) {
  return metric.ends_with("_per_second") || metric.ends_with("_rate") || metric.ends_with(".iops");
}

/// Sum of logarithms of each measurement of a class; what several ranks see of one is one.
struct ClassOfMetrics {
  std::map<std::tuple<std::string, std::string, int>, std::pair<double, double>> measurements;

  void add(const MetricKey& key, double log) {
    auto& [sum, count] = measurements[{key.metric, key.params, key.ranks}];
    sum += log;
    count += 1.0;
  }
  double geometric_mean() const {
    double sum = 0.0;
    for (const auto& [key, logs] : measurements) sum += logs.first / logs.second;
    return std::exp(sum / static_cast<double>(measurements.size()));
  }
};

}  // namespace

double work_ratio(const ComparedMetric& metric) {
  if (metric.key.better == Better::none) return kNoValue;
  return metric.key.better == Better::lower ? 1.0 / metric.ratio : metric.ratio;
}

bool is_rate(const MetricKey& key) {
  switch (key.unit) {
    case Unit::byte_per_second:
    case Unit::flop_per_second:
    case Unit::op_per_second:
      return key.better == Better::higher;
    case Unit::count:
      return key.better == Better::higher && counts_per_time(key.metric);
    case Unit::second:
      return key.better == Better::lower && is_time_of_work(key.metric);
    default:
      return false;
  }
}

std::vector<ResourceRatio> resource_ratios(const Comparison& comparison) {
  std::map<std::tuple<Resource, std::string, Unit, Better>, ClassOfMetrics> classes;
  for (const ComparedMetric& metric : comparison.metrics) {
    const MetricKey& key = metric.key;
    const double log = std::log(work_ratio(metric));
    if (std::isfinite(log) && !is_derived(key))
      classes[{metric.resource, key.device, key.unit, key.better}].add(key, log);
  }
  std::vector<ResourceRatio> found;
  for (const auto& [key, metrics] : classes) {
    const auto& [resource, device, unit, better] = key;
    found.push_back(
        {resource, metrics.measurements.size(), metrics.geometric_mean(), device, unit, better});
  }
  return found;
}

std::string follows(double ratio, const std::vector<ResourceRatio>& resources) {
  std::map<Resource, double> nearest;
  for (const ResourceRatio& one : resources) {
    const bool of_rates = one.unit != Unit::hertz && one.unit != Unit::ratio;
    const double distance = std::abs(std::log(ratio / one.ratio));
    if (!has_resource(one.resource) || !of_rates || !std::isfinite(distance)) continue;
    const auto [slot, is_new] = nearest.try_emplace(one.resource, distance);
    slot->second = std::min(slot->second, distance);
  }
  std::vector<std::pair<double, Resource>> distances;
  for (const auto& [resource, distance] : nearest) distances.emplace_back(distance, resource);
  std::ranges::sort(distances);
  if (distances.empty()) return "";
  if (distances.size() > 1 && distances[1].first - distances[0].first < kApart) return "";
  return std::string(to_string(distances.front().second));
}

}  // namespace bench
