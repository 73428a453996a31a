// GPU memory for the memory probes.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "devices/memory.h"

namespace bench {

/// Larger working sets are processed in windows of this many bytes over all arrays: about 0.25 ms
/// of work, and larger than any L2.
inline constexpr std::size_t kCudaWindowBytes = std::size_t{1} << 30;

/// Layout of a working set, in elements: b first, then c, a last.
struct CudaArraysLayout {
  std::size_t window = 0;   // of one array
  std::size_t windows = 0;  // in one array
  std::size_t length() const { return window * windows; }
};

/// Throws Error(input) if an array is smaller than the work of one thread block.
CudaArraysLayout lay_out_arrays(const StreamRequest& request);

std::unique_ptr<MemorySystem> make_cuda_memory(cudaStream_t stream);

}  // namespace bench
