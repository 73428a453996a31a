#include "core/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The binomial is summed exactly up to here (2^-1000 is a normal double); beyond, the normal
// approximation with continuity correction differs by at most one rank.
constexpr std::size_t kExact = 1000;

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

/// The k-th smallest (from 0), partitioning `values` around it.
double select(std::vector<double>& values, std::size_t k) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::size_t exact_rank(std::size_t n) {
  double mass = std::ldexp(1.0, -static_cast<int>(n));  // P(B = k)
  double below = 0.0;                                   // P(B < k)
  for (std::size_t k = 0; k <= n; ++k) {
    if (1.0 - 2.0 * (below + mass) < 0.95) return k;
    below += mass;
    mass *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return 0;
}

std::size_t normal_rank(std::size_t n) {
  constexpr double kTwoSided95 = 1.959963984540054;
  const auto count = static_cast<double>(n);
  return static_cast<std::size_t>((count + 1.0 - kTwoSided95 * std::sqrt(count)) / 2.0);
}

}  // namespace

double median(std::span<const double> values) { return quantile(values, 0.5); }

double finite_median(std::span<const double> values) {
  std::vector<double> finite(values.begin(), values.end());
  std::erase_if(finite, [](double value) { return !std::isfinite(value); });
  return median(finite);
}

double quantile(std::span<const double> values, double q) {
  if (values.empty() || has_nan(values) || !(q >= 0.0 && q <= 1.0)) return kNaN;
  std::vector<double> copy(values.begin(), values.end());
  const double position = q * static_cast<double>(copy.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double low = select(copy, below);
  const double part = position - static_cast<double>(below);
  if (part == 0.0) return low;
  // The elements after it are not smaller: their minimum is the next order statistic.
  const double high =
      *std::min_element(copy.begin() + static_cast<std::ptrdiff_t>(below) + 1, copy.end());
  return high == low ? low : low + part * (high - low);
}

std::size_t median_interval_rank(std::size_t n) {
  if (n < 6) return 0;
  return n <= kExact ? exact_rank(n) : normal_rank(n);
}

std::optional<Interval> median_interval(std::span<const double> values) {
  const std::size_t rank = median_interval_rank(values.size());
  if (rank == 0 || has_nan(values)) return {};
  std::vector<double> copy(values.begin(), values.end());
  const double low = select(copy, rank - 1);
  return Interval{low, select(copy, copy.size() - rank)};
}

double mean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return kNaN;
  const double centre = mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace bench
