// Checkpoints that are written while training goes on: what training still waits for.
#pragma once

#include "probes/procedures/checkpoint_series.h"
#include "probes/state.h"
#include "probes/storage/checkpoint_round.h"

namespace bench {

/// Measures and writes the series of one kind. `to_whole`: how many times the bytes that are
/// written a whole model has, for the interval.
void measure_async(State& state, const CheckpointKind& kind, const storage::CheckpointStore& store,
                   const storage::CheckpointSetting& setting, double to_whole);

}  // namespace bench
