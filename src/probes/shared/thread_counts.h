// The convention for the parameter "threads": a list of numbers, 0 meaning all cores.
#pragma once

#include <vector>

#include "probes/state.h"

namespace bench {

/// The actual numbers, each once, in the requested order. Throws Error(input) for more threads than
/// the device has cores, which would measure the scheduler.
std::vector<int> thread_counts(State& state);

/// The same for a single number.
int thread_count(State& state, int asked);

}  // namespace bench
