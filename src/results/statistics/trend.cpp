#include "results/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/order_statistics.h"
#include "results/statistics/distributions.h"

namespace bench {
namespace {

constexpr double kTrendZ = 1.959963984540054;  // two-sided 95 %

double n_term(double n) { return n * (n - 1.0) * (2.0 * n + 5.0); }

/// Variance of S without a trend.
double s_variance(std::span<const double> values) {
  std::map<double, double> equal;
  for (const double value : values) equal[value] += 1.0;
  double sum = n_term(static_cast<double>(values.size()));
  for (const auto& [value, times] : equal) sum -= n_term(times);
  return sum / 18.0;
}

}  // namespace

Trend trend(std::span<const double> values, double inflation) {
  Trend result;
  if (values.size() < 3) {
    result.slope = result.low = result.high = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      const double rise = values[j] - values[i];
      slopes.push_back(rise / static_cast<double>(j - i));
      result.s += rise > 0.0 ? 1.0 : (rise < 0.0 ? -1.0 : 0.0);
    }
  const double sigma = std::sqrt(s_variance(values) * inflation);
  const auto pairs = static_cast<double>(slopes.size());
  const auto ranked = [&](double rank) {
    const double index = std::clamp(std::nearbyint(rank), 0.0, pairs - 1.0);
    const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(slopes.begin(), at, slopes.end());
    return *at;
  };
  result.slope = median(slopes);
  result.high = ranked((pairs + kTrendZ * sigma) / 2.0);
  result.low = ranked((pairs - kTrendZ * sigma) / 2.0 - 1.0);
  const double beyond = std::max(0.0, std::abs(result.s) - 1.0);
  if (sigma > 0.0) result.p = 2.0 * normal_cdf(-beyond / sigma);
  return result;
}

}  // namespace bench
