// The distributions used by the tests of this folder.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

// Robust scatter of values with a few outliers.

/// Factor from the median of |value - median| (MAD) to the standard deviation of Gaussian values: 1
/// / the 75 % quantile of the normal distribution (Rousseeuw and Croux 1993).
inline constexpr double kMadToSigma = 1.4826;

// Poisson tail probability and upper confidence bound for counts of rare events. Exact, from the
// regularised incomplete gamma function (Abramowitz & Stegun 6.5.13, 26.4.21); a normal
// approximation fails at low counts.

/// Chance of at least `count` events if `mean` are expected. 1 for count 0; NaN for an invalid
/// mean.
double poisson_at_least(double count, double mean);

/// Upper confidence bound of the mean: P(X <= count) = 1 - confidence
/// (Garwood 1936, one-sided). 2.996 for none at 95 %.
double poisson_upper(double count, double confidence = 0.95);

// Exact null distributions of rank statistics, by counting.

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
/// Sum of t^3 - t over groups of t equal ranks.
double tie_term(std::vector<int> ranks);

/// P(Z <= x) of the standard normal.
double normal_cdf(double x);
/// x with normal_cdf(x) = p, to the precision of erfc; -infinity, infinity or NaN if p is not
/// between 0 and 1.
double normal_quantile(double p);

/// I_x(a, b), the regularised incomplete beta function, for a, b > 0 and 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

/// P(T <= t) of Student's t; `degrees` > 0 need not be whole. Far below zero it keeps its digits.
double student_cdf(double t, double degrees);
/// t with student_cdf(t, degrees) = p; for 0 < p < 1.
double student_quantile(double p, double degrees);

}  // namespace bench
