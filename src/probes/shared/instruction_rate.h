// Whether a measured number of instructions a cycle is one a core can have: 1, 2, 3, 4, or a half,
// a quarter, an eighth, a sixteenth. A loop that waits for memory or shares its core lies in
// between.
#pragma once

#include "core/record.h"

namespace bench {

/// The rate a core could have that lies nearest, as a ratio.
double nearest_rate(double instructions_per_cycle);

/// Error: relative distance from that rate.
Check rate_check(double instructions_per_cycle);

}  // namespace bench
