// Whether a series misses a gate of its case, and by how much.
#pragma once

#include "results/gates.h"
#include "results/series.h"

namespace bench {

/// What the gate asks for, in the unit of the metric; of several bounds the first. kNoValue for a
/// share of a limit that is not known.
double bound_of(const Gate& gate, const Series& series);
/// Whether that is the least it may be, rather than the most.
bool is_floor(const Gate& gate, const Series& series);
/// How much of the bound is missing: 0.9 for a tenth of a floor, and for ten times a ceiling.
double shortfall(double value, double bound, bool floor);

/// With the whole interval of its median; where no sample is clean, by half with the best one.
bool misses(const GateResult& gate, const Series& series);

}  // namespace bench
