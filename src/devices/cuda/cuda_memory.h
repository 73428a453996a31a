// GPU memory for the memory probes.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "devices/cuda/stream_kernels.h"
#include "devices/cuda/stream_timer.h"
#include "devices/memory.h"

namespace bench {

/// Larger working sets are processed in windows of this many bytes over all arrays: about 2 ms of
/// work, of which the first and last blocks of a launch, on a GPU that is not full, are 0.3 %.
inline constexpr std::size_t kCudaWindowBytes = std::size_t{8} << 30;

/// Layout of a working set, in elements: b first, then c, a last.
struct CudaArraysLayout {
  std::size_t window = 0;   // of one array
  std::size_t windows = 0;  // in one array
  std::size_t length() const { return window * windows; }
};

/// Throws Error(input) if an array is smaller than the work of one thread block.
CudaArraysLayout lay_out_arrays(const StreamRequest& request);

/// Ways to try; `bulk`: has_bulk_copies().
std::vector<StreamWay> stream_ways(MemoryKernel kernel, bool evict_first, bool bulk);

std::unique_ptr<MemorySystem> make_cuda_memory(int device, cudaStream_t stream, StreamTimer& timer);

}  // namespace bench
