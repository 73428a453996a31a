// The GPU's memory as the memory probes see it.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "devices/cuda/cuda_error.h"
#include "devices/cuda/stream_kernels.h"
#include "devices/memory.h"

namespace bench {

// Arrays of the GPU's memory that kernels stream through.

/// A larger working set is gone through in windows of this many bytes, all arrays together: some
/// 0.25 ms of work and more than any L2 holds.
inline constexpr std::size_t kCudaWindowBytes = std::size_t{1} << 30;

/// How a working set is laid out, in elements. b lies first, c behind it, a last.
struct CudaArraysLayout {
  std::size_t window = 0;   // of one array
  std::size_t windows = 0;  // in one array
  std::size_t length() const { return window * windows; }
};

/// Throws Error(input) when an array would be smaller than what one thread block works on.
CudaArraysLayout lay_out_arrays(const StreamRequest& request);

class CudaArrays final : public MemoryArrays {
 public:
  CudaArrays(const ArraysRequest& request, cudaStream_t stream);

  double huge_share() const override { return 0.0; }  // GPU memory has no such pages
  StreamAmount prepare(const StreamRequest& request) override;
  void run(std::int64_t calls) override;
  Check verify() override;

  /// The first element of what the prepared kernel reads or writes; tests damage it.
  double* source() const { return memory_.as<double>(); }
  double* destination() const;

 private:
  StreamArrays window_arrays(std::int64_t window) const;
  ExpectedWindow expected_window(std::int64_t window) const;
  double wrong_elements();
  double wrong_elements_seen_by_host(std::int64_t window) const;
  double wrong_sum();
  std::uint64_t total(const DeviceMemory& sums) const;

  cudaStream_t stream_;
  DeviceMemory memory_;
  DeviceMemory sums_;
  DeviceMemory expected_sums_;
  StreamRequest request_;
  CudaArraysLayout layout_;
  std::int64_t done_ = 0;  // calls since prepare()
};

std::unique_ptr<MemorySystem> make_cuda_memory(cudaStream_t stream);

}  // namespace bench
