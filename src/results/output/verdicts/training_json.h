// A training report for programs: schemas/report_training.json.
#pragma once

#include "core/json.h"
#include "results/verdicts/training/training_report.h"

namespace bench {

/// {workload, preset, runs: [{seed, converged, quality, samples_to_target, seconds_to_target}],
/// olympic_mean_s, throughput, mfu} and more. With several groups these are null or cover all
/// groups, and each group is in `groups` with the same keys.
Json to_json(const TrainingReport& report);

}  // namespace bench
