// Comparison of two means under Gaussian noise, for samples too small for rank tests.
#pragma once

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

/// Welch 1947: variances may differ. With fewer than two values on a side, or without any scatter,
/// t, p and the interval are NaN.
WelchTest welch(std::span<const double> a, std::span<const double> b);

}  // namespace bench
