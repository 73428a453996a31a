// Launches of kernels and graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "probes/device/launches.h"

namespace bench {

std::unique_ptr<Launches> make_cuda_launches(cudaStream_t stream);

}  // namespace bench
