// Energy of a training, as far as the host reports it.
#pragma once

#include "results/series.h"
#include "results/series_telemetry.h"
#include "results/training/training_run.h"

namespace bench {

/// Sets energy_j and energy_of. Telemetry covers only the first host, so multi-host trainings have
/// none.
void add_energy(TrainingRun& run, const std::vector<Series>& series,
                const TelemetryIndex& telemetry);

}  // namespace bench
