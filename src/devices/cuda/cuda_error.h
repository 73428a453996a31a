// Checks of CUDA runtime return codes, and owned memory and streams.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "core/error.h"

namespace bench {

/// Throws Error(environment): "cudaMalloc of 4.0 GB: out of memory (cudaErrorMemoryAllocation)".
inline void check(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clear it, or the next launch reports it
  throw Error(ErrorKind::environment,
              what + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")");
}

/// Call it after a kernel launch, which may be rejected.
inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), std::string("launch of ") + kernel);
}

// Synchronous copies. cudaMemcpy() promises less: it only enqueues device-to-device copies, may
// return before pageable memory has arrived, and our streams do not wait for the default one.

/// Between host and device memory in any combination. Throws Error(environment) beginning with
/// `what`.
inline void copy_now(void* to, const void* from, std::size_t bytes, const std::string& what) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), what);
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

inline void set_now(void* to, int byte, std::size_t bytes, const std::string& what) {
  check(cudaMemset(to, byte, bytes), what);
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

/// Memory allocated by one CUDA function and released by another.
template <cudaError_t (*allocate)(void**, std::size_t), cudaError_t (*release)(void*)>
class CudaMemoryBlock {
 public:
  CudaMemoryBlock() = default;
  explicit CudaMemoryBlock(std::size_t bytes) : bytes_(bytes) {
    check(allocate(&data_, bytes), "get " + std::to_string(bytes) + " bytes of memory");
  }
  ~CudaMemoryBlock() { release(data_); }
  CudaMemoryBlock(CudaMemoryBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  CudaMemoryBlock& operator=(CudaMemoryBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  template <class T = void>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

inline cudaError_t allocate_on_gpu(void** data, std::size_t bytes) {
  return cudaMalloc(data, bytes);
}
inline cudaError_t allocate_pinned(void** data, std::size_t bytes) {
  return cudaHostAlloc(data, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
}

using DeviceMemory = CudaMemoryBlock<allocate_on_gpu, cudaFree>;
/// Host memory that the GPU can access directly, also during a kernel.
using PinnedMemory = CudaMemoryBlock<allocate_pinned, cudaFreeHost>;

/// For communication streams, as in training frameworks: the blocks of a GEMM fill the GPU, and a
/// collective behind them would overlap with nothing.
inline int highest_priority() {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "query stream priorities");
  return highest;
}

/// Does not wait for the default stream.
class CudaStream {
 public:
  /// 0 is the default priority; lower numbers take precedence.
  explicit CudaStream(int priority = 0) {
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority),
          "create a stream");
  }
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace bench
