// Comparison of two means under Gaussian noise, for samples too small for rank tests.
#pragma once

#include <limits>
#include <span>

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

/// Welch 1947: variances may differ. From two values a side on; before that, and without any
/// scatter, t, p and the interval are NaN.
WelchTest welch(std::span<const double> a, std::span<const double> b);

/// mean(b) / mean(a) and its 95 % interval.
struct MeanRatio {
  double ratio = std::numeric_limits<double>::quiet_NaN();
  Interval interval = {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN()};
};

/// Fieller 1954, with Welch's degrees of freedom. No interval if the mean of a may be zero.
MeanRatio mean_ratio(std::span<const double> a, std::span<const double> b);

}  // namespace bench
