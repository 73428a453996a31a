// How cuBLASLt wants block-scaled matrices in memory: two nvfp4 elements a byte, and scales in
// tiles. Pure, so that it is tested without a GPU.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// Elements of four bits, one a byte, as two a byte: the first in the lower half.
std::vector<std::byte> packed_halves(std::span<const std::byte> elements);

/// Scales lie in tiles of 128 lines x 4 blocks, 512 bytes one after another, the tiles row by row;
/// inside a tile four lines that are 32 apart lie side by side ("1D block scaling factors layout"
/// of cuBLAS' documentation):
///   offset = 512 tile + 16 (line % 32) + 4 (line % 128 / 32) + block % 4
std::size_t scale_offset(std::size_t line, std::size_t block, std::size_t blocks_in_line);
/// Bytes of all tiles, the last ones padded.
std::size_t scale_bytes(std::size_t lines, std::size_t blocks_in_line);

/// The scale of `block` in `line` is scales[line * line_stride + block * block_stride]; padding is
/// 0.
std::vector<std::byte> tiled_scales(std::span<const std::byte> scales, std::size_t lines,
                                    std::size_t blocks_in_line, std::size_t line_stride,
                                    std::size_t block_stride);

}  // namespace bench
