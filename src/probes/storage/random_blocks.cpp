#include "probes/storage/random_blocks.h"

#include <cstring>

#include "probes/storage/crc32c.h"

namespace bench::storage {

SyntheticState::SyntheticState(std::uint64_t bytes, std::uint64_t chunk_bytes, int threads,
                               std::uint64_t seed)
    : bytes_(bytes), chunk_bytes_(chunk_bytes), seed_(seed) {
  for (int thread = 0; thread < threads; ++thread) {
    slabs_.emplace_back(chunk_bytes);
    fill_blocks(slabs_.back().all(), seed * 257 + static_cast<std::uint64_t>(thread));
  }
}

std::span<const std::byte> SyntheticState::chunk(int thread, std::int64_t number) {
  const auto slab = slabs_[static_cast<std::size_t>(thread)].all().first(
      bytes_of_chunk(bytes_, chunk_bytes_, number));
  const std::uint64_t first = static_cast<std::uint64_t>(number) * (chunk_bytes_ / kBlockBytes);
  stamp_blocks(slab, first, seed_);
  return slab;
}

ChunkSource SyntheticState::source() {
  return [this](int thread, std::int64_t number) { return chunk(thread, number); };
}

ChunkSource chunks_of(std::span<const std::byte> state, std::uint64_t chunk_bytes) {
  return [state, chunk_bytes](int, std::int64_t number) {
    return state.subspan(static_cast<std::uint64_t>(number) * chunk_bytes,
                         bytes_of_chunk(state.size(), chunk_bytes, number));
  };
}

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
