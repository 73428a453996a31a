// Calls in a row work on other memory each, so that none finds its data in the L2 that the call
// before it filled.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "devices/cuda/cuda_error.h"

namespace bench {

inline constexpr std::size_t kRotationPerL2 = 4;
/// As cudaMalloc's: no set is aligned worse than the first.
inline constexpr std::size_t kRotationAlignment = 256;

constexpr std::size_t aligned_for_rotation(std::size_t bytes) {
  return (bytes + kRotationAlignment - 1) / kRotationAlignment * kRotationAlignment;
}

/// How many sets of so many bytes are more than four times the L2 together; 1 where one is.
constexpr std::size_t rotation_sets(std::size_t set_bytes, std::size_t l2_bytes) {
  return kRotationPerL2 * l2_bytes / std::max<std::size_t>(set_bytes, 1) + 1;
}

/// Bytes of the current GPU's L2, as it says itself.
inline std::size_t l2_bytes() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device), "query the current GPU");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "query the L2 size");
  return static_cast<std::size_t>(std::max(bytes, 0));
}

}  // namespace bench
