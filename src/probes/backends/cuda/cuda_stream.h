// An owned stream that does not wait for the default one.
#pragma once

#include <cuda_runtime_api.h>

#include "probes/backends/cuda/cuda_error.h"

namespace bench {

/// Of streams that communicate: the blocks of a product fill the GPU, and a collective that waits
/// for them to end is hidden behind nothing. Training frameworks do the same.
inline int highest_priority() {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "query stream priorities");
  return highest;
}

class CudaStream {
 public:
  /// 0 is the usual priority, lower numbers go before it.
  explicit CudaStream(int priority = 0) {
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority), "create a stream");
  }
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace bench
