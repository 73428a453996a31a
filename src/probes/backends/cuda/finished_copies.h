// Copies that have arrived when these return. cudaMemcpy() alone promises less: from device to
// device it only enqueues, and from pageable memory it may return before the last bytes are there,
// while our streams do not wait for the default one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "probes/backends/cuda/cuda_error.h"

namespace bench {

/// Between any two places, host or device. Throws Error(environment) that begins with `what`.
inline void copy_now(void* to, const void* from, std::size_t bytes, const std::string& what) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), what);
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

inline void set_now(void* to, int byte, std::size_t bytes, const std::string& what) {
  check(cudaMemset(to, byte, bytes), what);
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

}  // namespace bench
