#include "results/verdicts/training/training_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "results/stats/means.h"
#include "results/stats/peers.h"
#include "results/verdicts/training/training_report.h"

namespace bench {
namespace {

/// Logarithms of the runs' throughputs.
LogMean log_rates(const TrainingGroup& group) {
  std::vector<double> rates;
  for (const TrainingRun& run : group.runs)
    if (was_timed(run)) rates.push_back(run.items_per_second);
  return log_mean(rates);
}

void set_efficiency(ScalingPoint& point, const TrainingGroup& base, const TrainingGroup& group,
                    double times) {
  const LogMean a = log_rates(base), b = log_rates(group);
  point.items_per_second = std::exp(b.mean);
  const Ratio efficiency = ratio_of(b, a) / times;
  point.efficiency = efficiency.value;
  if (&base == &group) return;
  point.low = efficiency.low;
  point.high = efficiency.high;
  if (a.n == 1 && b.n == 1) {
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
  return several
             ? "throughputs are geometric means over runs with 95 % confidence intervals (Welch)"
             : "intervals of single runs cover windows within the run, not run-to-run variation; "
               "train more seeds";
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
