// Memory of this machine according to the kernel: caches, nodes and how much may be allocated.
// `root` replaces "/" in tests; what cannot be read is omitted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "devices/chain_order.h"
#include "devices/host/pages.h"
#include "devices/host/stream_kernels.h"
#include "devices/host/team.h"
#include "devices/memory.h"

namespace bench {

/// A pointer chain in host memory. Every node is a cache line of 64 bytes whose first word is the
/// address of the next.
class HostChain final : public MemoryChain {
 public:
  /// Chains larger than `cached_bytes` are written past the caches. All `cores` write the chain,
  /// the first one walks it.
  HostChain(const ChainRequest& request, std::vector<int> cores, double cached_bytes,
            HostThreadWatch& watch);

  double huge_share() const override { return mapping_.huge_share(touched_); }
  void prepare(double bytes) override;
  void run(std::int64_t loads) override;
  Check verify() override;

  static constexpr std::size_t kNodeBytes = 64;
  /// Address of a node; tests corrupt it.
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

class HostCpus;
class HostThreadWatch;

/// Data and unified caches of the first of `cores`, by level.
std::vector<CacheLevel> read_caches(const std::vector<int>& cores,
                                    const std::filesystem::path& root = "/");

/// Every node with memory or one of `cores`.
std::vector<MemoryNode> read_memory_nodes(const std::vector<int>& cores,
                                          const std::filesystem::path& root = "/");

/// MemAvailable, or less if a control group (version 1 or 2) of this process allows less; page
/// cache that can be reclaimed counts as available. 0 if unreadable.
double read_available_bytes(const std::filesystem::path& root = "/");

std::unique_ptr<MemorySystem> make_host_memory(const HostCpus& cpus, HostThreadWatch& watch);

}  // namespace bench
