// Order statistics over all pairs of values without forming the pairs, a million of which would
// dominate the cost of a metric.
#pragma once

#include <cstddef>
#include <span>

namespace bench {

/// The rank-th smallest (from 1) of all b_j - a_i. Both ascending, not empty; all values finite.
double nth_difference(std::span<const double> a, std::span<const double> b, std::size_t rank);

/// The rank-th smallest of all (x_i + x_j) / 2, i <= j. Ascending, not empty; all values finite.
double nth_pair_mean(std::span<const double> x, std::size_t rank);

}  // namespace bench
