// What a training took from the socket, as far as the machine tells it.
#pragma once

#include "results/series.h"
#include "results/series_telemetry.h"
#include "results/training/training_run.h"

namespace bench {

/// Sets energy_j and energy_of. Telemetry is of the first host: over several hosts there is none.
void add_energy(TrainingRun& run, const std::vector<Series>& series,
                const TelemetryIndex& telemetry);

}  // namespace bench
