// The order in which a chain of pointers goes through memory, host's or GPU's.
#pragma once

#include <cstdint>

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

/// The bits of a chain of `bytes` in nodes of `node_bytes`. Throws Error(internal) unless it is a
/// power of two of at least four nodes and fits into `most` bytes.
unsigned chain_bits(double bytes, std::size_t node_bytes, std::size_t most);

}  // namespace bench
