// Consecutive calls use different memory, so that none finds its data in the L2.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "devices/cuda/cuda_error.h"

namespace bench {

inline constexpr std::size_t kRotationPerL2 = 4;
/// As for cudaMalloc: all sets are equally aligned.
inline constexpr std::size_t kRotationAlignment = 256;

constexpr std::size_t aligned_for_rotation(std::size_t bytes) {
  return (bytes + kRotationAlignment - 1) / kRotationAlignment * kRotationAlignment;
}

/// Number of sets that exceed four times the L2 in total; at least 1.
constexpr std::size_t rotation_sets(std::size_t set_bytes, std::size_t l2_bytes) {
  return kRotationPerL2 * l2_bytes / std::max<std::size_t>(set_bytes, 1) + 1;
}

/// L2 size of the current GPU, as reported.
inline std::size_t l2_bytes() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device), "query the current GPU");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "query the L2 size");
  return static_cast<std::size_t>(std::max(bytes, 0));
}

}  // namespace bench
