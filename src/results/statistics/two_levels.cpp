#include "results/statistics/two_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/order_statistics.h"
#include "results/statistics/distributions.h"

namespace bench {

TwoLevels two_levels(std::span<const std::vector<double>> runs) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  TwoLevels levels{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  if (runs.size() < 2 || runs[0].size() < 2) return levels;
  std::vector<double> means;
  double within = 0.0;
  for (const auto& run : runs) {
    if (run.size() != runs[0].size()) return levels;
    means.push_back(mean(run));
    const double deviation = standard_deviation(run);
    within += deviation * deviation;
  }
  const auto count = static_cast<double>(runs.size());
  const double deviation = standard_deviation(means);
  levels.mean = mean(means);
  levels.within = within / count;
  levels.of_means = deviation * deviation;
  levels.between =
      std::max(0.0, levels.of_means - levels.within / static_cast<double>(runs[0].size()));
  levels.half_width = student_quantile(0.975, count - 1.0) * deviation / std::sqrt(count);
  return levels;
}

double best_samples_per_run(const TwoLevels& levels, double run_cost) {
  return std::sqrt(run_cost * levels.within / levels.between);
}

}  // namespace bench
