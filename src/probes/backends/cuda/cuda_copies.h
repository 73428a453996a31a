// Copies by the GPU's copy engines.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "probes/device/copies.h"

namespace bench {

std::unique_ptr<Copies> make_cuda_copies(int device, cudaStream_t stream);

}  // namespace bench
