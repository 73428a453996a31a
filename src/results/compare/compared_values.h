// The values of one metric on both sides, on the scale on which they are compared.
#pragma once

#include <vector>

#include "results/compare/compare.h"
#include "results/compare/estimate.h"

namespace bench {

/// Medians over units of each unit's median.
SideValues side_values(const ValuesOfUnits& units);

/// Whether logarithms are taken: the metric declares it, and no value is zero or below.
bool on_log_scale(const MetricDeclaration& declared, const ValuesOfUnits& a,
                  const ValuesOfUnits& b);

/// `noise_floor`: the least standard error of a value, as a share of it.
ScaledUnits scaled(const ValuesOfUnits& units, bool log_scale, double noise_floor);

/// Logarithms of work per clock cycle; nothing if a clock is unknown. `better` distinguishes rates
/// from times.
ScaledUnits scaled_per_cycle(const ValuesOfUnits& units, Better better);

}  // namespace bench
