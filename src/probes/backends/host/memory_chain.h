// A chain of pointers through the host's memory, and the order it goes in.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/backends/host/pages.h"
#include "probes/backends/host/stream_kernels.h"
#include "probes/backends/host/team.h"
#include "probes/device/memory.h"

namespace bench {

/// One cycle through 2^bits nodes in an order that looks random: a linear congruential generator of
/// full period (Hull and Dobell: multiplier 1 modulo 4, odd increment), its states scrambled by an
/// invertible mix, because their low bits alone would repeat. Unlike a shuffled permutation it is
/// written from front to back, as fast as memory takes it, and where any number of steps leads can
/// be computed.
class ChainOrder {
 public:
  /// 2 <= bits <= 48
  ChainOrder(unsigned bits, std::uint64_t seed);
  std::uint64_t nodes() const { return mask_ + 1; }
  std::uint64_t next(std::uint64_t node) const;
  /// The node after so many steps from the start of the walk.
  std::uint64_t after(std::uint64_t steps) const;

 private:
  std::uint64_t mix(std::uint64_t state) const;
  std::uint64_t unmix(std::uint64_t node) const;

  std::uint64_t mask_;
  unsigned shift_;
  std::uint64_t multiplier_, increment_;
  std::uint64_t scramble_, unscramble_;
};

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
