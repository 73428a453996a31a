// Every return code of the CUDA runtime goes through check().
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/error.h"

namespace bench {

/// Throws Error(environment): "cudaMalloc of 4.0 GB: out of memory (cudaErrorMemoryAllocation)".
inline void check(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // else it stays behind, and the next launch is blamed for it
  throw Error(ErrorKind::environment,
              what + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")");
}

/// After a kernel's launch, whose configuration may have been refused.
inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), std::string("launch of ") + kernel);
}

}  // namespace bench
