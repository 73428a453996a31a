// The step time after removing one cause: Amdahl's law.
#pragma once

#include "results/diagnosis/rules.h"

namespace bench::diagnosis {

/// Share of `ceiling.share` that a fix removes, 0..1; NaN if unbounded.
double removed_part(const Ceiling& ceiling, const Observation& observation);

/// Maximum speedup factor; NaN if unbounded.
double gain(const Ceiling& ceiling, const Observation& observation);

/// The step after fixing the cause of `rule`: its part of T is removed and the other shares grow.
/// Other measures of that part become unknown.
Observation after_fix(const Observation& observation, const Rule& rule);

}  // namespace bench::diagnosis
