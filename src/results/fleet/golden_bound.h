// A value against what healthy hosts of its kind taught: the one rule of `report fleet` and
// `accept`.
#pragma once

#include <cstddef>

#include "results/fleet/criteria.h"

namespace bench {

struct GoldenTest {
  double threshold = 0.01;  // the practical one, a share
  double level = 0.004;     // chance that any of `tests` healthy values is accused
  std::size_t tests = 1;
};

/// How far below its criterion's centre a host may lie: what the hosts may differ by that taught
/// it, and no less than the practical threshold. A share.
double golden_allowed(const Criterion& criterion, double threshold);

/// Whether all of the interval, `loss` +- `half` (shares; a NaN half is none), lies below what is
/// allowed, and the loss below what the worst of so many healthy hosts would reach.
bool is_below_golden(const Criterion& criterion, const GoldenTest& test, double loss, double half);

}  // namespace bench
