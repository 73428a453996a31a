// Random numbers without state: each is a function of a stream and its position in it, so that any
// rank can generate any sample in any order. Everything here is constexpr and uses integers or
// exact f64 operations, so that a GPU gets the same bits (nvcc: --expt-relaxed-constexpr).
#pragma once

#include <cstdint>

#include "core/elements.h"

namespace bench::training {

/// Samples for training and for evaluation.
enum class Split : std::uint8_t { train, evaluation };

/// Random numbers 0, 1, 2, ... of one sample or one table.
struct RandomStream {
  std::uint64_t key;

  constexpr std::uint64_t bits(std::uint64_t index) const { return random_bits(key, index); }
  constexpr std::uint32_t bits32(std::uint64_t index) const {
    return static_cast<std::uint32_t>(bits(index) >> 32);
  }
};

/// A stream that depends on both numbers; streams of one seed all differ.
constexpr RandomStream random_stream(std::uint64_t seed, std::uint64_t stream) {
  return {random_bits(random_bits(seed, 0), stream)};
}

/// The stream of one sample. The highest bit of its key is the split: no training sample, of any
/// seed and index, has the random numbers of an evaluation sample.
constexpr RandomStream sample_stream(std::uint64_t seed, Split split, std::uint64_t index) {
  const std::uint64_t key = random_stream(seed, index).key >> 1;
  return {key | (split == Split::evaluation ? std::uint64_t{1} << 63 : 0)};
}

/// In [0, 1), a multiple of 2^-53.
constexpr double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// In [0, bound), from 32 random bits.
constexpr std::uint32_t below(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>(std::uint64_t{bits} * bound >> 32);
}

/// Number of the 2^32 patterns that below() maps to `value`: the exact probability times 2^32.
constexpr std::uint64_t ways_below(std::uint32_t value, std::uint32_t bound) {
  const auto first = [bound](std::uint64_t v) { return ((v << 32) + bound - 1) / bound; };
  return first(std::uint64_t{value} + 1) - first(value);
}

/// Approximately standard normal: twelve uniform 16-bit numbers minus their mean; |x| < 6, variance
/// 1 - 2^-32, excess kurtosis -0.1. Uses numbers 3 * index to 3 * index + 2 of the stream.
constexpr float normal(RandomStream stream, std::uint64_t index) {
  std::int64_t sum = 0;
  for (std::uint64_t word = 3 * index; word < 3 * index + 3; ++word) {
    const std::uint64_t bits = stream.bits(word);
    // Two lanes add two 16-bit numbers each.
    const std::uint64_t pairs = (bits & 0x0000ffff0000ffff) + (bits >> 16 & 0x0000ffff0000ffff);
    sum += static_cast<std::int64_t>((pairs & 0xffffffff) + (pairs >> 32));
  }
  return static_cast<float>(sum - 6 * 65535) * 0x1p-16f;
}

}  // namespace bench::training
