#include "probes/storage/random_blocks.h"

#include <cstring>

#include "probes/storage/crc32c.h"

namespace bench::storage {
namespace {

struct Stamp {
  std::uint64_t number = 0;
  std::uint64_t mix = 0;
  std::uint32_t body_checksum = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(Stamp) == 24);

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t mix_of(std::uint64_t number, std::uint64_t seed) {
  return mixed(number + mixed(seed + 0x9e3779b97f4a7c15u));
}

std::span<const std::byte> body_of(const std::byte* block) {
  return {block + sizeof(Stamp), kBlockBytes - sizeof(Stamp)};
}

}  // namespace

void fill_blocks(std::span<std::byte> bytes, std::uint64_t seed) {
  std::uint64_t counter = mixed(seed ^ 0x5bf0a8b1457695f3u);
  for (std::size_t at = 0; at + kBlockBytes <= bytes.size(); at += kBlockBytes) {
    std::byte* block = bytes.data() + at;
    for (std::size_t i = sizeof(Stamp); i < kBlockBytes; i += sizeof(std::uint64_t)) {
      const std::uint64_t word = mixed(counter += 0x9e3779b97f4a7c15u);
      std::memcpy(block + i, &word, sizeof(word));
    }
    Stamp stamp;
    stamp.body_checksum = crc32c(body_of(block));
    std::memcpy(block, &stamp, sizeof(stamp));
  }
}

void stamp_blocks(std::span<std::byte> bytes, std::uint64_t first, std::uint64_t seed) {
  for (std::size_t at = 0; at + kBlockBytes <= bytes.size(); at += kBlockBytes, ++first) {
    const std::uint64_t words[2] = {first, mix_of(first, seed)};
    std::memcpy(bytes.data() + at, words, sizeof(words));
  }
}

std::int64_t wrong_blocks(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t seed,
                          bool bodies) {
  std::int64_t wrong = 0;
  for (std::size_t at = 0; at + kBlockBytes <= bytes.size(); at += kBlockBytes, ++first) {
    Stamp stamp;
    std::memcpy(&stamp, bytes.data() + at, sizeof(stamp));
    const bool placed =
        stamp.number == first && stamp.mix == mix_of(first, seed) && stamp.zero == 0;
    if (!placed || (bodies && crc32c(body_of(bytes.data() + at)) != stamp.body_checksum)) ++wrong;
  }
  return wrong;
}

}  // namespace bench::storage
