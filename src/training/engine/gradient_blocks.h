// Gradients and parameters as rows of blocks, in which sums are made and updates shared. Blocks are
// fixed, so that no result depends on how many threads or ranks share the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

constexpr std::int64_t kBlock = 16384;  // elements

/// Blocks first to last - 1 of a row.
struct BlockRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t size() const { return last - first; }
  bool operator==(const BlockRange&) const = default;
};

inline std::int64_t blocks_of(View row) { return (row.elements() + kBlock - 1) / kBlock; }

/// Elements first to first + count - 1 of a row.
inline View part_of(View row, std::int64_t first, std::int64_t count) {
  auto* bytes = row.as<std::byte>();
  return {bytes + first * static_cast<std::int64_t>(size_of(row.dtype)), 1, count, row.dtype};
}

/// The element of a row at which a part of it begins.
inline std::int64_t element_of(View row, View part) {
  return (part.as<std::byte>() - row.as<std::byte>()) /
         static_cast<std::int64_t>(size_of(row.dtype));
}

/// The elements of these blocks; the row's last block may be shorter than others.
inline View blocks_in(View row, BlockRange blocks) {
  const std::int64_t first = std::min(blocks.first * kBlock, row.elements());
  return part_of(row, first, std::min(blocks.last * kBlock, row.elements()) - first);
}

inline View block_of(View row, std::int64_t index) { return blocks_in(row, {index, index + 1}); }

/// work(i) for the items of one thread of `threads`: neighbours, so that its caches keep them.
template <class Work>
void split_work(std::int64_t items, int thread, int threads, const Work& work) {
  for (std::int64_t i = items * thread / threads; i < items * (thread + 1) / threads; ++i) work(i);
}

}  // namespace bench::training
