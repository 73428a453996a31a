// A chain of pointers through the GPU's memory.
#pragma once

#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/chain_order.h"
#include "probes/device/memory.h"

namespace bench {

class CudaChain final : public MemoryChain {
 public:
  CudaChain(const ChainRequest& request, cudaStream_t stream);

  double huge_share() const override { return 0.0; }
  void prepare(double bytes) override;
  void run(std::int64_t loads) override;
  Check verify() override;

  /// A node is a cache line of 128 bytes whose first word is the offset of the next.
  static constexpr std::size_t kNodeBytes = 128;

 private:
  const std::uint64_t seed_;
  cudaStream_t stream_;
  ChainOrder order_;
  DeviceMemory memory_;
  DeviceMemory position_;
  std::uint64_t steps_ = 0;
};

}  // namespace bench
