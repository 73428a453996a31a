#include "probes/training/backends/cuda/gpu_memory.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/error.h"

namespace bench::training {
namespace {

std::size_t at_least_aligned(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max(bytes, kAlignment));
}

/// Throws; an out-of-memory error names the purpose of the memory.
void check_allocation(cudaError_t code, const char* where, std::int64_t bytes,
                      const char* purpose) {
  const std::string what =
      std::string(where) + " for " + std::to_string(bytes) + " bytes of " + purpose;
  if (code != cudaErrorMemoryAllocation) return check(code, "allocate memory " + what);
  cudaGetLastError();  // clear it for the next call
  throw Error(ErrorKind::environment, "out of memory " + what,
              "use a smaller preset or micro-batch, or recompute");
}

}  // namespace

void* GpuMemory::allocate(std::int64_t bytes, const char* purpose) {
  void* data = nullptr;
  const std::size_t size = at_least_aligned(bytes);
  check_allocation(cudaMalloc(&data, size), "on the GPU", bytes, purpose);
  check(cudaMemsetAsync(data, 0, size, context_->stream()), "write zeros");
  return data;
}

void GpuMemory::release(void* data) { cudaFree(data); }

void* GpuMemory::allocate_staging(std::int64_t bytes, const char* purpose) {
  void* data = nullptr;
  const std::size_t size = at_least_aligned(bytes);
  check_allocation(cudaHostAlloc(&data, size, cudaHostAllocPortable), "on the host (page-locked)", bytes,
                   purpose);
  std::memset(data, 0, size);
  return data;
}

void GpuMemory::release_staging(void* data) { cudaFreeHost(data); }

void GpuMemory::upload(const void* from, void* to, std::int64_t bytes) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                        context_->stream()),
        "copy to the GPU");
  check(cudaEventRecord(uploaded_.get(), context_->stream()), "record copy event");
}

void GpuMemory::uploaded() {
  check(cudaEventSynchronize(uploaded_.get()), "wait for a copy to the GPU");
}

void GpuMemory::download(const void* from, void* to, std::int64_t bytes) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost,
                        context_->stream()),
        "copy from the GPU");
  context_->synchronise();
}

}  // namespace bench::training
