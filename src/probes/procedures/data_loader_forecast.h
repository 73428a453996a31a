// What a training with steps of a given length would see: foretold, and where asked for, measured.
#pragma once

#include "probes/procedures/data_loader_series.h"

namespace bench {

/// Each length of the parameter `steps`: the stall predicted from `before`, a loop without steps;
/// then the loop with steps, and a second one without, which tells whether the prediction may be
/// judged. Each of `presets`: predicted alone. What was found stands in facts["steps"] and
/// facts["presets"].
void write_forecasts(State& state, const DataLoaderSetup& setup, const data::LoaderOptions& options,
                     const MeasuredLoop& before, Json& facts);

}  // namespace bench
