// What a rank would save, without a model: chunks of random blocks, made when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "probes/storage/aligned_buffer.h"

namespace bench::storage {

/// The bytes of a chunk, for the writing thread of that number, which may use them until it asks
/// for the next. Called by all threads at once.
using ChunkSource = std::function<std::span<const std::byte>(int thread, std::int64_t chunk)>;

class SyntheticState {
 public:
  /// Of `bytes`, a multiple of kBlockBytes, in chunks of `chunk_bytes`, another such multiple; the
  /// last may be shorter. Same seed, same state for the same number of the thread that makes it.
  SyntheticState(std::uint64_t bytes, std::uint64_t chunk_bytes, int threads, std::uint64_t seed);

  std::span<const std::byte> chunk(int thread, std::int64_t number);
  ChunkSource source();

 private:
  std::uint64_t bytes_, chunk_bytes_, seed_;
  std::vector<AlignedBuffer> slabs_ = {};
};

/// A state that lies in memory.
ChunkSource chunks_of(std::span<const std::byte> state, std::uint64_t chunk_bytes);

/// How many chunks there are.
constexpr std::int64_t chunk_count(std::uint64_t bytes, std::uint64_t chunk_bytes) {
  return static_cast<std::int64_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}
/// The bytes of chunk `number`.
constexpr std::uint64_t bytes_of_chunk(std::uint64_t bytes, std::uint64_t chunk_bytes,
                                       std::int64_t number) {
  const std::uint64_t begin = static_cast<std::uint64_t>(number) * chunk_bytes;
  return bytes - begin < chunk_bytes ? bytes - begin : chunk_bytes;
}

}  // namespace bench::storage
