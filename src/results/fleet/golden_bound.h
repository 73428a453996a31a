// Compares a value with learned criteria; shared by `report fleet` and `accept`.
#pragma once

#include <cstddef>

#include "results/fleet/criteria.h"

namespace bench {

struct GoldenTest {
  double threshold = 0.01;  // the practical one, a share
  double level = 0.004;     // false-alarm probability over `tests` healthy values
  std::size_t tests = 1;
};

/// Allowed loss against the centre of a criterion: the spread of the learned hosts, at least the
/// practical threshold. A share.
double golden_allowed(const Criterion& criterion, double threshold);

/// Whether the whole interval `loss` +- `half` (shares; NaN half for none) exceeds the allowed
/// loss, and the loss exceeds that of the worst of so many healthy hosts.
bool is_below_golden(const Criterion& criterion, const GoldenTest& test, double loss, double half);

}  // namespace bench
