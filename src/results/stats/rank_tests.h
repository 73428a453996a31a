// Mann and Whitney's test: do values of A tend to be larger or smaller than those of B?
#pragma once

#include <span>
#include <vector>

#include "results/stats/hodges_lehmann.h"

namespace bench {

// A common shift of several strata (hosts) with different levels: values are compared only within a
// stratum.

struct Stratum {
  std::vector<double> a, b;
};

struct StratifiedShift {
  Shift shift = {};  // of b over a
  double p = 1.0;    // two-sided
};

/// Median of all b_j - a_i within strata, with the interval of order statistics among them: the
/// number above the shift is the sum of the strata's U, whose distribution is the convolution of
/// theirs (exact up to 50 values per side, else normal). With one stratum this is the
/// Hodges-Lehmann shift and the Mann-Whitney test. Ties in several strata count towards equality.
StratifiedShift stratified_shift(std::span<const Stratum> strata);

struct RankTest {
  double statistic = 0.0;
  double p = 1.0;  // two-sided
  bool exact = false;
};

/// The statistic is U of a: the pairs in which a is larger, ties counting one half. Exact up to 50
/// values per side, with ties up to 25 (from the actual ranks); beyond that normal with corrections
/// for ties and continuity. p is twice the smaller tail, and 1 if a side is empty.
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// The same by the normal distribution for any number of values, as other programs do: for six
/// values a side its p is twice the exact one.
RankTest mann_whitney_by_normal(std::span<const double> a, std::span<const double> b);

// Wilcoxon's signed rank test of whether paired differences are centred on zero, and the median of
// the Walsh averages with its exact interval.

/// The statistic is the rank sum of the positive differences; zeros are dropped. Exact up to 50
/// differences, also with ties; beyond that normal. p is two-sided.
RankTest signed_rank(std::span<const double> differences);

/// The median of all (d_i + d_j) / 2, i <= j, and the interval of order statistics among them with
/// at least `confidence`; none below six differences at 95 %.
Shift paired_shift(std::span<const double> differences, double confidence = 0.95);

}  // namespace bench
