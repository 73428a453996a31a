// The kernels that stream through the GPU's memory, and those that fill and check it. Every length
// is in elements and a multiple of kStreamGrain.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "probes/backends/cuda/stream_expected.h"

namespace bench {

/// Elements of one thread block: 256 threads that hold four vectors of two in flight each.
inline constexpr std::size_t kStreamGrain = 256 * 4 * 2;
/// Words the sums of a read are spread over, so that blocks do not queue for one.
inline constexpr std::size_t kSumSlots = 1024;

struct StreamArrays {
  double* a = nullptr;
  const double* b = nullptr;
  const double* c = nullptr;
  std::uint64_t* sums = nullptr;  // kSumSlots words; read adds the bits of all elements to them
};

/// `evict_first`: loads and stores that ask the caches not to keep the lines.
void launch_stream(MemoryKernel kernel, bool evict_first, const StreamArrays& arrays, double mark,
                   std::size_t length, cudaStream_t stream);

/// a[i] = pattern(first + i)
void launch_fill(double* a, std::uint64_t first, std::size_t length, cudaStream_t stream);

/// Adds the number of elements that are not bit for bit what they must be.
void launch_count_wrong(const double* a, const ExpectedWindow& window, std::size_t length,
                        std::uint64_t* wrong, cudaStream_t stream);

/// Adds the bits of pattern(first) ... to the slots, as a read of them must.
void launch_expected_sum(std::uint64_t first, std::size_t length, std::uint64_t* sums,
                         cudaStream_t stream);

}  // namespace bench
