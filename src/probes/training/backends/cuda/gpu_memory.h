// GPU memory for the engine, in the order of the context's stream.
#pragma once

#include <memory>

#include "probes/training/backends/cuda/device_context.h"
#include "probes/training/kernels/memory.h"

namespace bench::training {

class GpuMemory final : public Memory {
 public:
  explicit GpuMemory(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}

  bool on_host() const override { return false; }
  void* allocate(std::int64_t bytes, const char* purpose) override;
  void release(void* data) override;
  void* allocate_staging(std::int64_t bytes, const char* purpose) override;
  void release_staging(void* data) override;
  void upload(const void* from, void* to, std::int64_t bytes) override;
  void uploaded() override;
  void download(const void* from, void* to, std::int64_t bytes) override;
  void synchronise() override { context_->synchronise(); }

 private:
  std::shared_ptr<DeviceContext> context_;
  CudaEvent uploaded_;
};

}  // namespace bench::training
