// Median, quantiles and the interval of the median by order statistics, without assuming normality.
// The number of values below the median is binomial(n, 1/2), so [x(r), x(n+1-r)] covers it with
// probability 1 - 2 P(B <= r-1); r is the largest rank that keeps 95 %.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// NaN for no values. Even counts: the mean of the middle two.
double median(std::span<const double> values);

/// The median of the finite values; NaN for none.
double finite_median(std::span<const double> values);

/// Quantile 0..1 by linear interpolation (Hyndman & Fan type 7); NaN for no values.
double quantile(std::span<const double> values, double q);

/// 95 % interval of the median; nothing for fewer than six values, for which none exists.
std::optional<Interval> median_interval(std::span<const double> values);

/// The 1-based rank r of the lower end; 0 for n < 6. n = 9 gives 2, n = 15 gives 4.
std::size_t median_interval_rank(std::size_t n);

double mean(std::span<const double> values);
/// Sample standard deviation (n - 1); NaN for fewer than two values.
double standard_deviation(std::span<const double> values);

}  // namespace bench
