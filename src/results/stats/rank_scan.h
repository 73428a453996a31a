// Test for a level change at an unknown position, for any noise distribution: the maximum
// Mann-Whitney statistic over all positions, judged by the distribution of that maximum.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

// Slow drift: a slope that is robust against outliers, and its significance.

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

// Confidence interval for the position of a change: not "at run 812" but "between 810 and 813".

struct ChangeInterval {
  std::size_t at = 0;             // the most likely first index after the change
  std::size_t low = 0, high = 0;  // the least and the largest of the set
  std::vector<std::size_t> set;   // all that are not rejected, ascending
};

/// For values with one level change: {t : (RSS(t) - RSS(best)) / sigma^2 <= cut}, with cut = -2
/// ln(1 - sqrt(confidence)) and sigma^2 = RSS(best) / (n - 2); `inflation` raises the cut for
/// correlated neighbours. Covers 95.6 to 99 % of changes of one to three sigmas. Needs four values.
ChangeInterval change_interval(std::span<const double> values, double inflation = 1.0,
                               double confidence = 0.95);

/// RSS of two means, split before each index from 1 on.
std::vector<double> split_squares(std::span<const double> values);

double change_interval_cut(double confidence);

/// Least number of values on each side of a change.
inline constexpr std::size_t kLeastSide = 3;

struct RankScan {
  double z = 0.0;      // |rank sum - expected| / its standard deviation, ties corrected
  std::size_t at = 0;  // first index after the change; 0: too few values
};
RankScan rank_scan(std::span<const double> values);

/// The z that independent values pass with probability 0.001. By simulation (200,000 series a
/// length, 60,000 above 100; least side 3), between lengths interpolated in ln n. Infinite below
/// eight values, which cannot reach that level.
double rank_scan_cut(std::size_t n);

}  // namespace bench
