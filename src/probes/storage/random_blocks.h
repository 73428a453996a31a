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
#include <span>

namespace bench::storage {

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
