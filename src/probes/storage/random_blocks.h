// Data that can be neither compressed nor deduplicated and that is self-checking. A block of 4 KiB
// is
//   offset 0  u64 its number in the file
//          8  u64 a mix of number and seed
//         16  u32 CRC-32C of the body
//         20  u32 0
//         24  the body: random bytes
// Bodies are made once; for another place in the file a block only gets a new stamp, because making
// random bytes costs more CPU time than writing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "probes/storage/aligned_buffer.h"

namespace bench::storage {

/// The bytes of a chunk, for the writing thread of that number, valid until that thread requests
/// the next one. Called by all threads at once.
using ChunkSource = std::function<std::span<const std::byte>(int thread, std::int64_t chunk)>;

/// A rank's state without a model: chunks of random blocks, made on request.
class SyntheticState {
 public:
  /// `bytes` in chunks of `chunk_bytes`, both multiples of kBlockBytes; the last chunk may be
  /// shorter. The same seed and thread number give the same chunk.
  SyntheticState(std::uint64_t bytes, std::uint64_t chunk_bytes, int threads, std::uint64_t seed);

  std::span<const std::byte> chunk(int thread, std::int64_t number);
  ChunkSource source();

 private:
  std::uint64_t bytes_, chunk_bytes_, seed_;
  std::vector<AlignedBuffer> slabs_ = {};
};

/// A state in memory.
ChunkSource chunks_of(std::span<const std::byte> state, std::uint64_t chunk_bytes);

/// The number of chunks.
constexpr std::int64_t chunk_count(std::uint64_t bytes, std::uint64_t chunk_bytes) {
  return static_cast<std::int64_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}
/// The size of chunk `number`.
constexpr std::uint64_t bytes_of_chunk(std::uint64_t bytes, std::uint64_t chunk_bytes,
                                       std::int64_t number) {
  const std::uint64_t begin = static_cast<std::uint64_t>(number) * chunk_bytes;
  return bytes - begin < chunk_bytes ? bytes - begin : chunk_bytes;
}

inline constexpr std::size_t kBlockBytes = 4096;

/// Makes random bodies; `bytes` is a multiple of kBlockBytes. Same seed, same bodies.
void fill_blocks(std::span<std::byte> bytes, std::uint64_t seed);

/// Stamps them as the blocks from number `first` on, of the file with this seed.
void stamp_blocks(std::span<std::byte> bytes, std::uint64_t first, std::uint64_t seed);

/// Loads check the stamps of all blocks, and their bodies in one of so many operations.
inline constexpr std::int64_t kBodiesEvery = 32;

/// The number of blocks that are not those from `first` on; with `bodies`, also of those with a
/// changed body. Checking stamps alone reads one cache line per block.
std::int64_t wrong_blocks(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t seed,
                          bool bodies);

}  // namespace bench::storage
