// A series as steps: the piecewise constant function that minimises sum |value - level| plus a
// penalty for each step (optimal partitioning; Potts functional with absolute deviations). Medians
// and absolute deviations: a single wild night moves neither.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// No segment is shorter.
inline constexpr std::size_t kShortestSegment = 2;

/// Starts of the segments except the first: ascending indices. `penalty` is positive, in the
/// values' unit. Exact: the levels of an optimum are medians, hence among the values, so a dynamic
/// program over (position, level) takes n x (distinct values) steps.
class L1Segmentation {
 public:
  std::vector<std::size_t> boundaries(std::span<const double> values, double penalty);

 private:
  std::vector<double> levels_, young_, grown_, begin_;  // kept from series to series
  std::vector<std::size_t> begin_of_best_;
};

/// The penalty that a step must earn: 1.6 f^2 sigma ln n.
double l1_penalty(double sigma, std::size_t n, double inflation = 1.0);

/// sum |value - median|
double l1_cost(std::span<const double> values);

}  // namespace bench
