// Slow drift: a slope that outliers do not pull, and whether there is one.
#pragma once

#include <span>

namespace bench {

struct Trend {
  double slope =
      0.0;  // median of the slopes of all pairs, a step of the series (Theil 1950, Sen 1968)
  double low = 0.0, high = 0.0;  // its 95 % interval (Sen 1968; ranks as scipy.stats.theilslopes)
  double s = 0.0;                // Mann and Kendall: rising pairs less falling pairs
  double p = 1.0;                // two-sided, normal approximation with continuity and ties
};

/// NaN slopes for fewer than three values. `inflation` widens interval and p for correlated
/// neighbours.
Trend trend(std::span<const double> values, double inflation = 1.0);

}  // namespace bench
