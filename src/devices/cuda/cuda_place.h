// Brings a rank next to its GPU before anything is allocated: what crosses from one socket to the
// other on its way to the GPU is slower, and differs from GPU to GPU.
#pragma once

#include "core/json.h"

namespace bench {

/// Binds this process to the NUMA node of the GPU that gpu_of_rank() says, and says what was done:
/// {"gpu", "numa_node", "nearest_network", "reason", "cpus", "memory_bound"}. Null without a GPU.
/// Before the first CUDA context, so that CUDA's own threads follow. Never throws.
Json place_near_gpu();

}  // namespace bench
