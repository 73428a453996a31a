// What the runs of one setup took, put together: throughput, phases, memory, energy.
#pragma once

#include "results/training/training_report.h"

namespace bench {

/// Sets the group's values derived from its runs, except the time to target. Uses only runs that
/// count (was_timed).
void merge_runs(TrainingGroup& group);

}  // namespace bench
