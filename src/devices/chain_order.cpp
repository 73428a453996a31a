#include "devices/chain_order.h"

#include <bit>
#include <string>

#include "core/elements.h"
#include "core/error.h"

namespace bench {
namespace {

/// Inverse of an odd number modulo 2^64 by Newton's method: each step doubles the correct bits.
std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

constexpr unsigned kLeastBits = 2;

}  // namespace

ChainOrder::ChainOrder(unsigned bits, std::uint64_t seed)
    : mask_((std::uint64_t{1} << bits) - 1),
      shift_((bits + 1) / 2),
      multiplier_(random_bits(seed, 0) << 3 | 5),
      increment_(random_bits(seed, 1) | 1),
      scramble_(random_bits(seed, 2) | 1),
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

unsigned chain_bits(double bytes, std::size_t node_bytes, std::size_t most) {
  const auto whole = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  if (whole < (node_bytes << kLeastBits) || !std::has_single_bit(whole) || whole > most)
    throw Error(ErrorKind::internal,
                "a chain of " + std::to_string(whole) + " bytes requested in a space of " +
                    std::to_string(most),
                "use a power of two of at least four nodes");
  return static_cast<unsigned>(std::countr_zero(whole / node_bytes));
}

}  // namespace bench
