#include "probes/backends/host/memory_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bench {
namespace {

constexpr unsigned kLeastBits = 2;  // until the first prepare()
constexpr std::uint64_t kBlockNodes = 64;
constexpr std::size_t kNodeWords = HostChain::kNodeBytes / sizeof(double);

const std::byte* follow(const std::byte* node) {
  const std::byte* next;
  std::memcpy(&next, node, sizeof next);
  return next;
}

}  // namespace

HostChain::HostChain(const ChainRequest& request, std::vector<int> cores, double cached_bytes,
                     HostThreadWatch& watch)
    : seed_(request.seed),
      cached_bytes_(cached_bytes),
      order_(kLeastBits, seed_),
      mapping_(static_cast<std::size_t>(request.bytes), request.pages, request.place.memory_node),
      team_(std::move(cores), watch) {}

void HostChain::prepare(double bytes) {
  order_ = ChainOrder(chain_bits(bytes, kNodeBytes, mapping_.bytes()), seed_);
  const auto threads = static_cast<std::uint64_t>(team_.size());
  const std::uint64_t blocks = (order_.nodes() + kBlockNodes - 1) / kBlockNodes;
  const std::uint64_t share = (blocks + threads - 1) / threads * kBlockNodes;
  team_.run([&](int thread) {
    const std::uint64_t first =
        std::min(order_.nodes(), share * static_cast<std::uint64_t>(thread));
    build(first, std::min(order_.nodes(), first + share), bytes > cached_bytes_);
  });
  touched_ = std::max<std::size_t>(touched_, order_.nodes() * kNodeBytes);
  at_ = node(order_.after(0));
  steps_ = 0;
}

/// A page's worth of nodes is made in a buffer and then copied, past the caches or not.
void HostChain::build(std::uint64_t first, std::uint64_t end, bool cold) const {
  alignas(64) double block[kBlockNodes * kNodeWords] = {};
  const StreamKernels& kernels = stream_kernels();
  const auto copy = cold ? kernels.copy_nontemporal : kernels.copy;
  for (; first < end; first += kBlockNodes) {
    const std::uint64_t count = std::min(kBlockNodes, end - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* next = node(order_.next(first + i));
      std::memcpy(block + i * kNodeWords, &next, sizeof next);
    }
    copy(reinterpret_cast<double*>(node(first)), block, count * kNodeWords);
  }
}

void HostChain::run(std::int64_t loads) {
  const std::byte* at = at_;
  std::int64_t left = loads;
  for (; left >= 16; left -= 16)
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) at = follow(at);
  for (; left > 0; --left) at = follow(at);
  at_ = at;
  steps_ += static_cast<std::uint64_t>(loads);
}

Check HostChain::verify() {
  const double off = static_cast<double>(at_ - node(order_.after(steps_)));
  return {"position after a known number of steps", std::abs(off) / kNodeBytes, 0.0};
}

}  // namespace bench
