// The GPU's memory as collectives work on it.
#pragma once

#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/backends/cuda/injected_fault.h"
#include "probes/device/collectives.h"

namespace bench {

class DeviceCollectiveMemory final : public CollectiveMemory {
 public:
  DeviceCollectiveMemory(std::size_t bytes, cudaStream_t stream)
      : memory_(bytes), stream_(stream) {}

  std::byte* data() override { return memory_.as<std::byte>(); }
  void write(std::size_t at, std::span<const std::byte> bytes) override {
    copy(data() + at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  }
  void read(std::size_t at, std::span<std::byte> bytes) override {
    copy(bytes.data(), data() + at, bytes.size(), cudaMemcpyDeviceToHost);
    inject_fault(bytes.data() + bytes.size() - 1);
  }

 private:
  /// On the operations' own stream, so that it comes after them.
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy a buffer");
    check(cudaStreamSynchronize(stream_), "copy a buffer");
  }

  DeviceMemory memory_;
  cudaStream_t stream_;
};

}  // namespace bench
