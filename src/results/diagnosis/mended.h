// What a step would be without one of its causes: Amdahl's law.
#pragma once

#include "results/diagnosis/rules.h"

namespace bench::diagnosis {

/// The part of `ceiling.share` that goes when the cause is mended, 0..1; NaN where nothing bounds
/// it.
double removed_part(const Ceiling& ceiling, const Observation& observation);

/// The speed at most, as a factor; NaN where nothing bounds it.
double gain(const Ceiling& ceiling, const Observation& observation);

/// The same step where what `rule` found is mended: its part of T goes, the others' shares grow.
/// What was known of that part beside its length is not known any more.
Observation mended(const Observation& observation, const Rule& rule);

}  // namespace bench::diagnosis
