// The change of each host (or device) by itself. In the median of twelve hosts, one that lost 5 %
// disappears.
#pragma once

#include <vector>

#include "results/verdicts/compare/estimate.h"

namespace bench {

/// Run-to-run variation of single values, where the values themselves do not show it.
struct KnownNoise {
  double deviation = kNoValue;
  double degrees = 0.0;
  double floor = 0.0;  // the least deviation assumed of a value
};

struct UnitShift {
  UnitOfHost unit = {};
  Shift shift = {};  // of B - A; its interval covers all units together at 95 %
  double p = 1.0;    // adjusted for the number of units
};

/// Shifts of the units on both sides, if there are two or more. From six on, p is that of a value
/// so far from the other units' (Rosner's test), and with repeated runs no smaller than by the
/// variation of runs. Fewer: by the variation of runs within units, by `noise`, or by the errors
/// that samples give.
std::vector<UnitShift> unit_shifts(const ScaledUnits& a, const ScaledUnits& b,
                                   const KnownNoise& noise);

}  // namespace bench
