#include "training/engine/content_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "training/sources/random.h"

namespace bench::training {
namespace {

constexpr std::size_t kStripes = 4;  // words hashed in parallel
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;

/// One-to-one in `word` and in `state`: no change of one word is lost.
inline std::uint64_t stir(std::uint64_t state, std::uint64_t word) {
  const std::uint64_t product = (state ^ word) * kOdd;  // only high bits depend on low bits
  return product ^ product >> 32;
}

}  // namespace

std::uint64_t content_hash(std::span<const std::byte> bytes) {
  std::uint64_t stripes[kStripes] = {1, 2, 3, 4};
  std::uint64_t words[kStripes];
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(words)) {
    const std::size_t count = std::min(sizeof(words), bytes.size() - at);
    if (count < sizeof(words)) std::fill(words, words + kStripes, 0);
    std::memcpy(words, bytes.data() + at, count);
    for (std::size_t i = 0; i < kStripes; ++i) stripes[i] = stir(stripes[i], words[i]);
  }
  std::uint64_t hash = bytes.size();
  for (const std::uint64_t stripe : stripes) hash = random_bits(hash ^ stripe, 0);
  return hash;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace bench::training
