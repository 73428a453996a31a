// A history as levels: where it changed by more than the practical threshold for at least three
// values.
#pragma once

#include <span>
#include <vector>

#include "results/statistics/l1_segmentation.h"

namespace bench {

/// What a change must amount to, as distances on the series' axis, both positive.
struct Thresholds {
  double up = 0.0;
  double down = 0.0;
  bool passes(double distance) const { return distance > up || distance < -down; }
};

/// A level holds for so many values, or it is none.
inline constexpr std::size_t kShortestLevel = 3;

struct Segments {
  std::vector<std::size_t> begins = {0};  // ascending, the first is 0
  std::vector<double> levels = {};        // medians

  std::size_t end(std::size_t i, std::size_t n) const {
    return i + 1 < begins.size() ? begins[i + 1] : n;
  }
};

/// L1 segments at the penalty 1.6 f^2 sigma ln n; then those too short or too like their neighbour
/// are joined to it, the least change first.
Segments segments_of(L1Segmentation& steps, std::span<const double> values, double sigma,
                     double inflation, const Thresholds& thresholds);

/// Rise over the whole series of a straight-line fit, if it costs less than the steps, which then
/// all have one direction; otherwise 0.
double rise_of_line(std::span<const double> values, const Segments& segments, double penalty);

}  // namespace bench
