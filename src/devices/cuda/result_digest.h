// A number that tells two results apart, computed where they are: reading a result once costs half
// of comparing it with another, and nothing is copied to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/elements.h"

namespace bench {

/// Two words as one load of a GPU's thread.
struct alignas(16) WordPair {
  std::uint64_t first, second;
};

/// Of a word and its place: different for different words at one place, as random_bits is a
/// bijection of its seed. So a sum of these differs if one word differs, and if several do, but for
/// one case in 2^64.
constexpr std::uint64_t word_digest(std::uint64_t word, std::uint64_t place) {
  return random_bits(word, place);
}

/// The share of thread `thread` of `threads` in the digest of `pairs` pairs: the GPU's kernel and
/// the test on the host.
constexpr std::uint64_t digest_of_pairs(const WordPair* data, std::size_t pairs, std::size_t thread,
                                        std::size_t threads) {
  const auto of = [](const WordPair& pair, std::size_t at) {
    return word_digest(pair.first, 2 * at) + word_digest(pair.second, 2 * at + 1);
  };
  std::uint64_t sum = 0;
  std::size_t at = thread;
  // Four loads are under way before the first is used.
  for (; at + 3 * threads < pairs; at += 4 * threads) {
    const WordPair a = data[at], b = data[at + threads], c = data[at + 2 * threads],
                   d = data[at + 3 * threads];
    sum += of(a, at) + of(b, at + threads) + of(c, at + 2 * threads) + of(d, at + 3 * threads);
  }
  for (; at < pairs; at += threads) sum += of(data[at], at);
  return sum;
}

/// The whole digest, on the host: the sum over words of 8 bytes, the last filled up with zeros.
/// `bytes` must be a multiple of 16 on the GPU.
std::uint64_t digest_of(std::span<const std::byte> bytes);

}  // namespace bench
