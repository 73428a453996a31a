#include "probes/backends/cuda/cuda_uploads.h"

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "probes/backends/cuda/cuda_error.h"
#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/backends/cuda/cuda_stream.h"
#include "probes/backends/cuda/finished_copies.h"
#include "probes/backends/cuda/injected_fault.h"

namespace bench {
namespace {

class CudaPageLock final : public PageLock {
 public:
  explicit CudaPageLock(std::span<std::byte> memory) : memory_(memory) {
    check(cudaHostRegister(memory_.data(), memory_.size(), cudaHostRegisterPortable),
          "page-lock the batches");
  }
  ~CudaPageLock() override { cudaHostUnregister(memory_.data()); }
  CudaPageLock(const CudaPageLock&) = delete;
  CudaPageLock& operator=(const CudaPageLock&) = delete;

 private:
  std::span<std::byte> memory_;
};

class CudaUploads final : public Uploads {
 public:
  explicit CudaUploads(std::size_t bytes) : places_{DeviceMemory(bytes), DeviceMemory(bytes)} {}
  ~CudaUploads() override { cudaStreamSynchronize(stream_.get()); }

  void start(std::span<const std::byte> from) override {
    place_ = 1 - place_;
    check(cudaMemcpyAsync(places_.at(place_).as<>(), from.data(), from.size(),
                          cudaMemcpyHostToDevice, stream_.get()),
          "copy a batch to the GPU");
  }
  void finish() override {
    check(cudaStreamSynchronize(stream_.get()), "the copy of a batch to the GPU");
  }
  std::uint64_t wrong(std::span<const std::byte> expected) override {
    finish();
    inject_fault_on_gpu(places_.at(place_).as<>());
    std::vector<std::byte> arrived(expected.size());
    copy_now(arrived.data(), places_.at(place_).as<>(), arrived.size(),
             "read a batch from the GPU");
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < arrived.size(); ++i) wrong += arrived[i] != expected[i] ? 1 : 0;
    return wrong;
  }

 private:
  CudaStream stream_;
  std::array<DeviceMemory, 2> places_;
  std::size_t place_ = 0;
};

}  // namespace

PageLockOffer lock_for_cuda(std::span<std::byte> memory) {
  try {
    return {std::make_unique<CudaPageLock>(memory), ""};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

UploadsOffer make_cuda_uploads(std::size_t bytes) {
  try {
    return {std::make_unique<CudaUploads>(bytes), ""};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace bench
