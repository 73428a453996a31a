// The weights of a trained language model as files that other tools load (parameter `export`).
#pragma once

#include <string>

#include "probes/state.h"
#include "training/trainer/trainer.h"

namespace bench {

/// Why the weights that the job asks for cannot be exported; "" if they can, or none are asked for.
std::string why_not_exported(const State& state, const training::Workload& workload,
                             const training::ModelSplit& split);

/// On rank 0: writes the weights into `folder` (checkpoint/llm_export.h) and reports the metric
/// export_rate. Returns {"folder", "bytes", "seconds", "sha256", "layout", "dtype"} there, else
/// null; null too for an empty folder. Throws like export_llm(), on all ranks.
Json write_weights(State& state, const training::Workload& workload, training::Trainer& trainer,
                   const std::string& folder);

}  // namespace bench
