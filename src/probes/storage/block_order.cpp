#include "probes/storage/block_order.h"

#include <algorithm>
#include <bit>

namespace bench::storage {
namespace {

constexpr unsigned kRounds = 4;

std::uint64_t round_of(std::uint64_t half, std::uint64_t key) {
  std::uint64_t value = (half + key) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9u;
  return value ^ (value >> 32);
}

}  // namespace

BlockOrder::BlockOrder(Order order, std::uint64_t count, std::uint64_t seed)
    : order_(order), count_(std::max<std::uint64_t>(count, 1)), seed_(seed) {
  const auto bits = static_cast<unsigned>(std::bit_width(count_ - 1));
  half_bits_ = std::max(1u, (bits + 1) / 2);
}

/// A Feistel network permutes the numbers of 2 x half_bits_ bits.
std::uint64_t BlockOrder::permuted(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::uint64_t next = left ^ (round_of(right, seed_ + round) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

std::uint64_t BlockOrder::at(std::uint64_t visit) const {
  std::uint64_t value = visit % count_;
  if (order_ == Order::sequential) return value;
  // Numbers past the end are followed to where the cycle comes back inside: still a permutation.
  do value = permuted(value);
  while (value >= count_);
  return value;
}

}  // namespace bench::storage
