// The final state of a training, checked against its reported values.
#pragma once

#include "results/job_results.h"
#include "results/training/training_run.h"

namespace bench {

/// Sets state, reason, faults and checks from the job's end, the facts and the numbers that the run
/// already has.
void judge(TrainingRun& run, const JobResult& job);

}  // namespace bench
