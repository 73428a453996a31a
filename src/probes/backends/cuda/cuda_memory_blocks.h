// Owned memory: on the device, and page-locked on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "probes/backends/cuda/cuda_error.h"

namespace bench {

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

}  // namespace bench
