// Whether a series misses a gate of its case, and by how much.
#pragma once

#include "results/gates.h"
#include "results/series.h"

namespace bench {

/// The first bound of the gate, in the unit of the metric. kNoValue for a share of an unknown
/// limit.
double bound_of(const Gate& gate, const Series& series);
/// Whether that bound is a minimum.
bool is_floor(const Gate& gate, const Series& series);
/// Relative distance to the bound: 0.9 at a tenth of a minimum or ten times a maximum.
double shortfall(double value, double bound, bool floor);

/// With the whole interval of the median; without clean samples, by half with the best sample.
bool misses(const GateResult& gate, const Series& series);

}  // namespace bench
