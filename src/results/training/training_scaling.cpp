#include "results/training/training_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/order_statistics.h"
#include "results/acceptance/peers.h"
#include "results/training/training_report.h"

namespace bench {
namespace {

/// Logarithms of what the runs did: noise is relative.
struct LogRates {
  std::vector<double> values;
  double mean = kNoValue;
  double square_error = kNoValue;  // of the mean
};

LogRates log_rates(const TrainingGroup& group) {
  LogRates rates;
  for (const TrainingRun& run : group.runs)
    if (was_timed(run) && run.items_per_second > 0.0)
      rates.values.push_back(std::log(run.items_per_second));
  rates.mean = mean(rates.values);
  const double deviation = standard_deviation(rates.values);
  rates.square_error = deviation * deviation / static_cast<double>(rates.values.size());
  return rates;
}

/// Welch's degrees of freedom, rounded down: the table has whole ones.
std::size_t welch_degrees(const LogRates& a, const LogRates& b) {
  const double sum = a.square_error + b.square_error;
  if (!(sum > 0.0)) return 1;
  const auto part = [](const LogRates& rates) {
    return rates.square_error * rates.square_error /
           (static_cast<double>(rates.values.size()) - 1.0);
  };
  return std::max<std::size_t>(1, static_cast<std::size_t>(sum * sum / (part(a) + part(b))));
}

void set_efficiency(ScalingPoint& point, const TrainingGroup& base, const TrainingGroup& group,
                    double times) {
  const LogRates a = log_rates(base), b = log_rates(group);
  point.items_per_second = std::exp(b.mean);
  point.efficiency = std::exp(b.mean - a.mean) / times;
  if (&base == &group) return;
  if (a.values.size() > 1 && b.values.size() > 1) {
    const double half =
        student_95(welch_degrees(a, b)) * std::sqrt(a.square_error + b.square_error);
    point.low = point.efficiency * std::exp(-half);
    point.high = point.efficiency * std::exp(half);
  } else if (a.values.size() == 1 && b.values.size() == 1) {
    point.low = group.items_low / base.items_high / times;
    point.high = group.items_high / base.items_low / times;
  }
}

void set_time_efficiency(ScalingPoint& point, const OlympicMean& base, const OlympicMean& time,
                         double times) {
  if (!std::isfinite(base.mean) || !std::isfinite(time.mean)) return;
  point.time_efficiency = base.mean / (times * time.mean);
  if (&base == &time || base.kept < 2 || time.kept < 2) return;
  const double error = std::hypot(base.standard_error / base.mean, time.standard_error / time.mean);
  const double half = student_95(std::min(base.kept, time.kept) - 1) * error;
  point.time_low = point.time_efficiency * std::exp(-half);
  point.time_high = point.time_efficiency * std::exp(half);
}

std::string interval_words(std::span<const TrainingGroup> groups, const Scaling& scaling) {
  bool several = true;
  for (const ScalingPoint& point : scaling.points)
    several &= std::ranges::count_if(groups[point.group].runs, was_timed) > 1;
  return several ? "throughputs are geometric means over runs; 95 % intervals over runs (Welch)"
                 : "intervals of single runs are of their windows: they do not know how runs "
                   "differ; train more seeds";
}

Scaling scaling_of(std::span<const TrainingGroup> groups, std::vector<std::size_t> members,
                   bool weak) {
  std::ranges::sort(members, {}, [&](std::size_t i) { return groups[i].setup.ranks; });
  Scaling scaling;
  scaling.weak = weak;
  const TrainingGroup& base = groups[members.front()];
  scaling.base = base.setup.ranks;
  for (const std::size_t member : members) {
    const TrainingGroup& group = groups[member];
    const double times = static_cast<double>(group.setup.ranks) / static_cast<double>(scaling.base);
    ScalingPoint point;
    point.ranks = group.setup.ranks;
    point.group = member;
    set_efficiency(point, base, group, times);
    set_time_efficiency(point, base.time, group.time, times);
    scaling.points.push_back(point);
  }
  scaling.interval = interval_words(groups, scaling);
  return scaling;
}

bool has_several_ranks(std::span<const TrainingGroup> groups,
                       const std::vector<std::size_t>& members) {
  return std::ranges::any_of(members, [&](std::size_t i) {
    return groups[i].setup.ranks != groups[members.front()].setup.ranks;
  });
}

}  // namespace

std::vector<Scaling> scalings_of(std::span<const TrainingGroup> groups) {
  // By setup, then by weak and the batch that is fixed.
  std::map<std::string, std::map<std::pair<bool, double>, std::vector<std::size_t>>> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const TrainingSetup& setup = groups[i].setup;
    if (setup.batch <= 0 || std::ranges::none_of(groups[i].runs, was_timed)) continue;
    auto& same = found[scaling_key_of(setup)];
    const auto batch = static_cast<double>(setup.batch);
    same[{false, batch}].push_back(i);
    same[{true, batch / static_cast<double>(setup.ranks)}].push_back(i);
  }
  std::vector<Scaling> scalings;
  for (const auto& [setup, kinds] : found)
    for (const auto& [kind, members] : kinds)
      if (has_several_ranks(groups, members))
        scalings.push_back(scaling_of(groups, members, kind.first));
  return scalings;
}

}  // namespace bench
