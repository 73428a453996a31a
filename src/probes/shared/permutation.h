// A random order of the numbers 0 to count - 1 that needs no table: a Feistel network over the next
// power of 4, applied again to numbers past the end until one falls inside (cycle walking: Black
// and Rogaway 2002).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/elements.h"

namespace bench {

class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t key)
      : count_(count),
        key_(key),
        half_bits_(
            static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(count, 2) - 1) + 1) / 2) {}

  /// `place` is less than the count.
  std::uint64_t at(std::uint64_t place) const {
    constexpr std::uint64_t kRounds = 6;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    do {
      std::uint64_t left = place >> half_bits_, right = place & mask;
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        const std::uint64_t mixed = left ^ (random_bits(key_ + round, right) & mask);
        left = right;
        right = mixed;
      }
      place = left << half_bits_ | right;
    } while (place >= count_);
    return place;
  }

 private:
  std::uint64_t count_, key_;
  unsigned half_bits_;
};

}  // namespace bench
