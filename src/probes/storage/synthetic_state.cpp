#include "probes/storage/synthetic_state.h"

#include "probes/storage/random_blocks.h"

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

}  // namespace bench::storage
