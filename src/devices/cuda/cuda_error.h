// Every return code of the CUDA runtime goes through check().
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
  cudaGetLastError();  // else it stays behind, and the next launch is blamed for it
  throw Error(ErrorKind::environment,
              what + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")");
}

/// After a kernel's launch, whose configuration may have been refused.
inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), std::string("launch of ") + kernel);
}

// Copies that have arrived when these return. cudaMemcpy() alone promises less: from device to
// device it only enqueues, and from pageable memory it may return before the last bytes are there,
// while our streams do not wait for the default one.

/// Between any two places, host or device. Throws Error(environment) that begins with `what`.
inline void copy_now(void* to, const void* from, std::size_t bytes, const std::string& what) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), what);
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

inline void set_now(void* to, int byte, std::size_t bytes, const std::string& what) {
  check(cudaMemset(to, byte, bytes), what);
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

// Owned memory: on the device, and page-locked on the host.

/// What one of CUDA's functions allocates and another gives back.
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
/// Host memory that the GPU can read by itself, also while a kernel runs.
using PinnedMemory = CudaMemoryBlock<allocate_pinned, cudaFreeHost>;

// An owned stream that does not wait for the default one.

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
