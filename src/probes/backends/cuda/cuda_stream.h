// An owned stream that does not wait for the default one.
#pragma once

#include <cuda_runtime_api.h>

#include "probes/backends/cuda/cuda_error.h"

namespace bench {

class CudaStream {
 public:
  /// 0 is the usual priority, lower numbers go before it.
  explicit CudaStream(int priority = 0) {
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority), "make a stream");
  }
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace bench
