// A chain of pointers through the host's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/backends/host/pages.h"
#include "probes/backends/host/stream_kernels.h"
#include "probes/backends/host/team.h"
#include "probes/chain_order.h"
#include "probes/device/memory.h"

namespace bench {

/// Every node is a cache line of 64 bytes whose first word is the address of the next.
class HostChain final : public MemoryChain {
 public:
  /// Chains larger than `cached_bytes` are to be met in memory and are written past the caches.
  /// All `cores` write the chain, the first one walks it.
  HostChain(const ChainRequest& request, std::vector<int> cores, double cached_bytes,
            HostThreadWatch& watch);

  double huge_share() const override { return mapping_.huge_share(touched_); }
  void prepare(double bytes) override;
  void run(std::int64_t loads) override;
  Check verify() override;

  static constexpr std::size_t kNodeBytes = 64;
  /// Where a node's pointer lies; tests bend it.
  std::byte* node(std::uint64_t index) const { return mapping_.data() + index * kNodeBytes; }

 private:
  void build(std::uint64_t first, std::uint64_t end, bool cold) const;

  const std::uint64_t seed_;
  const double cached_bytes_;
  ChainOrder order_;
  PageMapping mapping_;
  Team team_;
  std::size_t touched_ = 0;
  const std::byte* at_ = nullptr;
  std::uint64_t steps_ = 0;
};

}  // namespace bench
