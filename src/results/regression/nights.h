// Which values of many hosts belong together in time. A run of the whole fleet is one night; on a
// busy cluster each idle host has a run of its own, and many of those are one night.
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

/// A night ends where a series has its second value in it, or twelve hours after it began. Each
/// series ascends by run.
Nights nights_of(std::span<const std::vector<RunValue>* const> series);

/// How many series had a value in one of the seven nights before the newest, and none in it. What
/// is silent for longer has retired.
std::size_t missing_tonight(const Nights& nights);

/// The movement that all share: of each night the median of the distances that the series present
/// have from their own medians. A night with fewer than `fewest` series has that of the night
/// before. Empty where no night has so many.
std::vector<double> common_movement(const Nights& nights,
                                    std::span<const std::vector<double>> axis_values,
                                    std::size_t fewest);

}  // namespace bench
