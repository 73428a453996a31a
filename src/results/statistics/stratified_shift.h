// A common shift of several strata (hosts) with different levels: values are compared only within a
// stratum.
#pragma once

#include <span>
#include <vector>

#include "results/statistics/hodges_lehmann.h"

namespace bench {

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

}  // namespace bench
