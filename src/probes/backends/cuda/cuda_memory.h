// The GPU's memory as the memory probes see it.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "probes/device/memory.h"

namespace bench {

std::unique_ptr<MemorySystem> make_cuda_memory(cudaStream_t stream);

}  // namespace bench
