// Hodges-Lehmann shift: how much larger B is than A, with an exact interval that assumes only that
// the two differ by a shift.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace bench {

// Order statistics over all pairs of values without forming the pairs, a million of which would
// dominate the cost of a metric.

/// The rank-th smallest (from 1) of all b_j - a_i. Both ascending, not empty; all values finite.
double nth_difference(std::span<const double> a, std::span<const double> b, std::size_t rank);

/// The rank-th smallest of all (x_i + x_j) / 2, i <= j. Ascending, not empty; all values finite.
double nth_pair_mean(std::span<const double> x, std::size_t rank);

struct Shift {
  double estimate = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();  // NaN: too few values for an interval
  double high = std::numeric_limits<double>::quiet_NaN();
  double confidence = 0.0;  // of [low, high]: at least the requested one; 0 without an interval
};

/// The median of all b_j - a_i. Up to 50 values a side the interval is exact, beyond that its rank
/// is that of the normal approximation. At 95 % it takes four values a side, or six against two.
Shift hodges_lehmann(std::span<const double> a, std::span<const double> b,
                     double confidence = 0.95);

/// Shared with the signed rank test: the median of `candidates`, and the interval from the
/// C-th smallest to the C-th largest of them, C being how many values of the statistic have
/// cdf <= tail.
Shift shift_of(std::vector<double> candidates, const std::vector<double>& cdf, double tail);
/// C by the normal approximation of a statistic with this standard deviation.
Shift shift_of_normal(std::vector<double> candidates, double deviation, double tail);
/// The same without forming the candidates: nth(rank) gives the rank-th smallest.
Shift shift_by_selection(std::size_t candidates, const std::function<double(std::size_t)>& nth,
                         double deviation, double tail);

}  // namespace bench
