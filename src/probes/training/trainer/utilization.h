// How much of a peak a training uses. Model FLOPs utilization (MFU, PaLM, arXiv 2204.02311) counts
// what the model needs: three forward passes of its GEMMs. Hardware FLOPs utilization
// (HFU) also counts what is computed twice: segments that are recomputed, and in attention's
// backward pass the probabilities.
#pragma once

#include "probes/training/engine/plan.h"

namespace bench::training {

/// Forward and backward over the batch of the plan's graph, with what is computed again.
double hardware_flops(const Plan& plan);

}  // namespace bench::training
