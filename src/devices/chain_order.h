// Order of a pointer chain through memory, on the host or a GPU.
#pragma once

#include <cstdint>

namespace bench {

/// One cycle through 2^bits nodes in a pseudo-random order: a full-period linear congruential
/// generator (Hull and Dobell: multiplier 1 modulo 4, odd increment) whose states an invertible mix
/// scrambles, because their low bits alone would repeat. Unlike a shuffled permutation it is
/// written sequentially, at memory speed, and the node after any number of steps can be computed.
class ChainOrder {
 public:
  /// 2 <= bits <= 48
  ChainOrder(unsigned bits, std::uint64_t seed);
  std::uint64_t nodes() const { return mask_ + 1; }
  std::uint64_t next(std::uint64_t node) const;
  /// The node after `steps` steps from the start.
  std::uint64_t after(std::uint64_t steps) const;

 private:
  std::uint64_t mix(std::uint64_t state) const;
  std::uint64_t unmix(std::uint64_t node) const;

  std::uint64_t mask_;
  unsigned shift_;
  std::uint64_t multiplier_, increment_;
  std::uint64_t scramble_, unscramble_;
};

/// log2 of the nodes in a chain of `bytes`. Throws Error(internal) unless that is a power of two of
/// at least four nodes and at most `most` bytes.
unsigned chain_bits(double bytes, std::size_t node_bytes, std::size_t most);

}  // namespace bench
