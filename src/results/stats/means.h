// Means of noisy values and their ratios: Welch's test under Gaussian noise, for samples too small
// for rank tests, and the efficiency of n workers relative to ideal scaling, computed on
// logarithms, as noise is relative.
#pragma once

#include <cstddef>
#include <span>

#include "core/json_fields.h"
#include "core/order_statistics.h"

namespace bench {

/// Welch's test of mean(b) - mean(a).
struct WelchTest {
  double t = 0.0;  // of mean(a) - mean(b)
  double degrees = 0.0;
  double p = 1.0;  // two-sided
  double difference = 0.0;
  Interval interval = {};  // 95 %
};

/// Welch 1947: variances may differ. With fewer than two values on a side, or without any scatter,
/// t, p and the interval are NaN.
WelchTest welch(std::span<const double> a, std::span<const double> b);

/// Logarithms of positive values; others are ignored.
struct LogMean {
  std::size_t n = 0;
  double mean = kNoValue;
  double square_error = kNoValue;  // of the mean; none for fewer than two
};
LogMean log_mean(std::span<const double> values);

struct Ratio {
  double value = kNoValue;
  double low = kNoValue, high = kNoValue;  // 95 %; none if either side has one value
};

/// exp(here - base) with Welch's interval: the ratio of two geometric means.
Ratio ratio_of(const LogMean& here, const LogMean& base);
/// The same, divided.
Ratio operator/(const Ratio& ratio, double divisor);

/// The geometric mean with Student's interval.
Ratio geometric_mean(const LogMean& values);

/// Serial fraction from a speedup S on n workers, (1/S - 1/n) / (1 - 1/n) (Karp and Flatt 1990); if
/// it grows with n, it is overhead rather than a serial part. kNoValue for n <= 1.
double karp_flatt(double speed_up, double n);

/// Serial fraction a in S = n - a (n - 1) for scaled speedups S = n T(1) / T(n) (Gustafson 1988),
/// by least squares through (1, 1). kNoValue if no n is above 1.
double gustafson_serial(std::span<const double> n, std::span<const double> speed_up);

}  // namespace bench
