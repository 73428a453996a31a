#include "probes/backends/host/memory_chain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "core/error.h"

namespace bench {
namespace {

/// The finalizer of SplitMix64: turns a seed into as many unlike numbers as asked for.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t which) {
  std::uint64_t x = seed + (which + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The inverse of an odd number modulo 2^64, by Newton's steps: each doubles the right bits.
std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

constexpr unsigned kLeastBits = 2;
constexpr std::uint64_t kBlockNodes = 64;
constexpr std::size_t kNodeWords = HostChain::kNodeBytes / sizeof(double);

unsigned chain_bits(double bytes, std::size_t most) {
  const auto whole = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  if (whole < (HostChain::kNodeBytes << kLeastBits) || !std::has_single_bit(whole) || whole > most)
    throw Error(ErrorKind::internal,
                "a chain of " + std::to_string(whole) + " bytes was asked for in a space of " +
                    std::to_string(most),
                "a power of two from 256 on is needed");
  return static_cast<unsigned>(std::countr_zero(whole / HostChain::kNodeBytes));
}

const std::byte* follow(const std::byte* node) {
  const std::byte* next;
  std::memcpy(&next, node, sizeof next);
  return next;
}

}  // namespace

ChainOrder::ChainOrder(unsigned bits, std::uint64_t seed)
    : mask_((std::uint64_t{1} << bits) - 1),
      shift_((bits + 1) / 2),
      multiplier_(random_word(seed, 0) << 3 | 5),
      increment_(random_word(seed, 1) | 1),
      scramble_(random_word(seed, 2) | 1),
      unscramble_(inverse(scramble_)) {}

// x ^ (x >> shift) undoes itself where shift is at least half of the bits.
std::uint64_t ChainOrder::mix(std::uint64_t state) const {
  std::uint64_t x = state ^ (state >> shift_);
  x = x * scramble_ & mask_;
  return x ^ (x >> shift_);
}

std::uint64_t ChainOrder::unmix(std::uint64_t node) const {
  std::uint64_t x = node ^ (node >> shift_);
  x = x * unscramble_ & mask_;
  return x ^ (x >> shift_);
}

std::uint64_t ChainOrder::next(std::uint64_t node) const {
  return mix((unmix(node) * multiplier_ + increment_) & mask_);
}

std::uint64_t ChainOrder::after(std::uint64_t steps) const {
  std::uint64_t multiplier = multiplier_, increment = increment_, state = 0;
  for (; steps != 0; steps >>= 1) {  // the map for 2^k steps, applied where bit k is set
    if (steps & 1) state = state * multiplier + increment;
    increment *= multiplier + 1;
    multiplier *= multiplier;
  }
  return mix(state & mask_);
}

HostChain::HostChain(const ChainRequest& request, std::vector<int> cores, double cached_bytes,
                     HostThreadWatch& watch)
    : seed_(request.seed),
      cached_bytes_(cached_bytes),
      order_(kLeastBits, seed_),
      mapping_(static_cast<std::size_t>(request.bytes), request.pages, request.place.memory_node),
      team_(std::move(cores), watch) {}

void HostChain::prepare(double bytes) {
  order_ = ChainOrder(chain_bits(bytes, mapping_.bytes()), seed_);
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
  return {"place after a known number of steps", std::abs(off) / kNodeBytes, 0.0};
}

}  // namespace bench
