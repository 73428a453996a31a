// Confidence interval for the position of a change: not "at run 812" but "between 810 and 813".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

struct ChangeInterval {
  std::size_t at = 0;             // the most likely first index after the change
  std::size_t low = 0, high = 0;  // the least and the largest of the set
  std::vector<std::size_t> set;   // all that are not refuted, ascending
};

/// For values with one level change: {t : (RSS(t) - RSS(best)) / sigma^2 <= cut}, with cut = -2
/// ln(1 - sqrt(confidence)) and sigma^2 = RSS(best) / (n - 2); `inflation` raises the cut for
/// correlated neighbours. Covers 95.6 to 99 % of changes of one to three sigmas. Needs four values.
ChangeInterval change_interval(std::span<const double> values, double inflation = 1.0,
                               double confidence = 0.95);

/// RSS of two means, split before each index from 1 on.
std::vector<double> split_squares(std::span<const double> values);

double change_interval_cut(double confidence);

}  // namespace bench
