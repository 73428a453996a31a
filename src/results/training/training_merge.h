// What the runs of one setup took, put together: throughput, phases, memory, energy.
#pragma once

#include "results/training/training_report.h"

namespace bench {

/// Sets what of the group follows from its runs beside the time to the target. Only runs whose
/// result counts are taken (was_timed).
void merge_runs(TrainingGroup& group);

}  // namespace bench
