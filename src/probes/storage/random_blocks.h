// Data that no file system, device or network compresses or finds twice, and that tells by itself
// whether it came back right. A block of 4 KiB is
//   offset 0  u64 its number in the file
//          8  u64 a mix of number and seed
//         16  u32 CRC-32C of the body
//         20  u32 0
//         24  the body: random bytes
// Bodies are made once; for another place in the file a block is only stamped anew, because making
// random bytes costs more CPU than writing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "probes/storage/aligned_buffer.h"

namespace bench::storage {

// What a rank would save, without a model: chunks of random blocks, made when they are asked for.

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

inline constexpr std::size_t kBlockBytes = 4096;

/// Makes random bodies; `bytes` is a multiple of kBlockBytes. Same seed, same bodies.
void fill_blocks(std::span<std::byte> bytes, std::uint64_t seed);

/// Makes them the blocks from number `first` on, of the file with this seed.
void stamp_blocks(std::span<std::byte> bytes, std::uint64_t first, std::uint64_t seed);

/// How many of them are not the blocks from `first` on; with `bodies`, also those whose body has
/// changed. Stamps alone cost a cache line a block.
std::int64_t wrong_blocks(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t seed,
                          bool bodies);

}  // namespace bench::storage
