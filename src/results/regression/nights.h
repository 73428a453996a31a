// Groups runs of many hosts into nights. A run of the whole fleet is one night; on a busy cluster
// each idle host has its own run, and many such runs form one night.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

/// What a judgement keeps of a point.
struct RunValue {
  std::int64_t run = 0;
  std::int64_t time_ns = 0;
  std::int64_t configuration = 0;
  double value = 0.0;
};

struct Nights {
  std::size_t count = 0;
  std::vector<std::vector<std::uint32_t>> of;  // of each series: the night of each of its values
};

/// A night ends at the second value of a series, or twelve hours after it began. Each series is in
/// run order.
Nights nights_of(std::span<const std::vector<RunValue>* const> series);

/// How many series had a value in one of the seven nights before the newest, and none in it. What
/// is silent for longer has retired.
std::size_t missing_tonight(const Nights& nights);

/// Common movement: for each night the median deviation of the present series from their own
/// medians. A night with fewer than `fewest` series takes the previous night's value. Empty if no
/// night has enough.
std::vector<double> common_movement(const Nights& nights,
                                    std::span<const std::vector<double>> axis_values,
                                    std::size_t fewest);

}  // namespace bench
