// The weights of a trained language model as files that other tools load (parameter `export`).
#pragma once

#include <string>

#include "probes/state.h"
#include "training/trainer/trainer.h"

namespace bench {

/// Before the training: why the weights that the job asks for cannot be exported; "" if they can,
/// or none are asked for. Throws Error(environment) on all ranks if rank 0 cannot write to
/// `folder`.
std::string why_not_exported(State& state, const training::ModelSplit& split,
                             const std::string& folder);

/// On rank 0: writes the weights into `folder` (checkpoint/llm_export.h), and reports the metric
/// export_rate and facts "exported_weights": {"folder", "bytes", "seconds", "sha256", "layout",
/// "dtype", "trained_in"}. Nothing for an empty folder. Throws Error(environment) on all ranks.
void write_weights(State& state, const training::Workload& workload, training::Trainer& trainer,
                   const std::string& folder);

}  // namespace bench
