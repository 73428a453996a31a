// A shift that several strata (hosts) have in common while each has a level of its own: only values
// of one stratum are compared with each other.
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

/// The median of all b_j - a_i within strata, and the interval of order statistics among them: how
/// many of them lie above the shift is the sum of the strata's U, whose distribution is the
/// convolution of theirs (exact up to 50 values a side, else normal). With one stratum this is
/// Hodges and Lehmann's shift and Mann and Whitney's test. Ties in several strata count towards
/// equality.
StratifiedShift stratified_shift(std::span<const Stratum> strata);

}  // namespace bench
