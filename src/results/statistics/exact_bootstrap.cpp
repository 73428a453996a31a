#include "results/statistics/exact_bootstrap.h"

#include <cmath>
#include <limits>
#include <map>

namespace bench {
namespace {

constexpr std::size_t kMostResampled = 8;

/// P(B <= k) of the binomial.
double binomial_cdf(std::size_t n, double share, std::size_t k) {
  if (share <= 0.0) return 1.0;
  if (share >= 1.0) return k >= n ? 1.0 : 0.0;
  double mass = std::pow(1.0 - share, static_cast<double>(n)), sum = mass;
  for (std::size_t i = 0; i < k; ++i) {
    mass *= static_cast<double>(n - i) / static_cast<double>(i + 1) * share / (1.0 - share);
    sum += mass;
  }
  return sum;
}

/// The sums of all resamples, each with its share: values are drawn one after the other.
std::map<double, double> resampled_sums(std::span<const double> values) {
  std::map<double, double> sums = {{0.0, 1.0}};
  for (std::size_t draw = 0; draw < values.size(); ++draw) {
    std::map<double, double> next;
    for (const auto& [sum, share] : sums)
      for (const double value : values)
        next[sum + value] += share / static_cast<double>(values.size());
    sums = std::move(next);
  }
  return sums;
}

}  // namespace

std::vector<double> bootstrap_median_mass(std::size_t n) {
  std::vector<double> mass;
  if (n % 2 == 0) return mass;
  const std::size_t below = (n - 1) / 2;
  for (std::size_t k = 1; k <= n; ++k)
    mass.push_back(binomial_cdf(n, static_cast<double>(k - 1) / static_cast<double>(n), below) -
                   binomial_cdf(n, static_cast<double>(k) / static_cast<double>(n), below));
  return mass;
}

Interval bootstrap_mean_interval(std::span<const double> values) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  constexpr double kRounding = 1e-12;
  Interval interval{kUnknown, kUnknown};
  if (values.empty() || values.size() > kMostResampled) return interval;
  double below = 0.0;
  for (const auto& [sum, share] : resampled_sums(values)) {
    below += share;
    const double centre = sum / static_cast<double>(values.size());
    if (std::isnan(interval.low) && below >= 0.025 - kRounding) interval.low = centre;
    if (std::isnan(interval.high) && below >= 0.975 - kRounding) interval.high = centre;
  }
  return interval;
}

}  // namespace bench
