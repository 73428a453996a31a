#include "probes/backends/cuda/cublas_block_scales.h"

#include "core/error.h"

namespace bench {
namespace {

constexpr std::size_t kTileLines = 128, kTileBlocks = 4, kTileBytes = kTileLines * kTileBlocks;
constexpr std::size_t kApart = 32;  // lines that lie side by side

std::size_t tiles(std::size_t count, std::size_t of_tile) {
  return (count + of_tile - 1) / of_tile;
}

}  // namespace

std::vector<std::byte> packed_halves(std::span<const std::byte> elements) {
  if (elements.size() % 2 != 0)
    throw Error(ErrorKind::internal, "4-bit elements must be even in number");
  std::vector<std::byte> packed(elements.size() / 2);
  for (std::size_t i = 0; i < packed.size(); ++i)
    packed[i] = (elements[2 * i] & std::byte{0xf}) | (elements[2 * i + 1] << 4);
  return packed;
}

std::size_t scale_offset(std::size_t line, std::size_t block, std::size_t blocks_in_line) {
  const std::size_t tile =
      line / kTileLines * tiles(blocks_in_line, kTileBlocks) + block / kTileBlocks;
  const std::size_t side_by_side = line % kTileLines / kApart;
  return tile * kTileBytes + line % kApart * (kTileBytes / kApart) + side_by_side * kTileBlocks +
         block % kTileBlocks;
}

std::size_t scale_bytes(std::size_t lines, std::size_t blocks_in_line) {
  return tiles(lines, kTileLines) * tiles(blocks_in_line, kTileBlocks) * kTileBytes;
}

std::vector<std::byte> tiled_scales(std::span<const std::byte> scales, std::size_t lines,
                                    std::size_t blocks_in_line, std::size_t line_stride,
                                    std::size_t block_stride) {
  if (scales.size() != lines * blocks_in_line)
    throw Error(ErrorKind::internal, "number of scales differs from the number of blocks");
  std::vector<std::byte> tiled(scale_bytes(lines, blocks_in_line));
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t block = 0; block < blocks_in_line; ++block)
      tiled[scale_offset(line, block, blocks_in_line)] =
          scales[line * line_stride + block * block_stride];
  return tiled;
}

}  // namespace bench
