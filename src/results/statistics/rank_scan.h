// Test for a level change at an unknown position, for any noise distribution: the maximum
// Mann-Whitney statistic over all positions, judged by the distribution of that maximum.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// Fewer values on one side of a change are not looked at.
inline constexpr std::size_t kLeastSide = 3;

struct RankScan {
  double z = 0.0;      // |rank sum - expected| / its standard deviation, ties corrected
  std::size_t at = 0;  // first index after the change; 0: nothing could be compared
};
RankScan rank_scan(std::span<const double> values);

/// z at one position; 0 if all values are equal.
double rank_scan_at(std::span<const double> values, std::size_t at);

/// The z that independent values pass with probability 0.001. By simulation (200,000 series a
/// length, 60,000 above 100; least side 3), between lengths interpolated in ln n. Infinite below
/// eight values, which cannot reach that level.
double rank_scan_cut(std::size_t n);

}  // namespace bench
