// Exact null distributions of rank statistics, by counting.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// P(U <= u) for u = 0, 1, ..., n m: Mann and Whitney's U of n against m values without ties.
std::vector<double> mann_whitney_cdf(std::size_t n, std::size_t m);

/// P(W <= w) for w = 0, 1, ..., n (n + 1) / 2: Wilcoxon's signed rank sum of n values without ties.
std::vector<double> signed_rank_cdf(std::size_t n);

/// P(S = s), s = 0, 1, ..., where S is the sum of `chosen` of these ranks drawn at random. Ranks
/// with ties are doubled to be integers.
std::vector<double> sum_of_chosen(std::span<const int> ranks, std::size_t chosen);
/// The same with each rank drawn with probability one half.
std::vector<double> sum_of_halves(std::span<const int> ranks);

/// Ranks from 1, doubled; equal values share the mean of theirs.
std::vector<int> doubled_ranks(std::span<const double> values);

}  // namespace bench
