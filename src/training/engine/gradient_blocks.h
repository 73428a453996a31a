// Gradients and parameters as rows of blocks, the unit in which sums and updates are distributed.
// Blocks are fixed, so that no result depends on the number of threads or ranks.
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

/// The index in a row of a part's first element.
inline std::int64_t element_of(View row, View part) {
  return (part.as<std::byte>() - row.as<std::byte>()) /
         static_cast<std::int64_t>(size_of(row.dtype));
}

/// The elements of these blocks; the row's last block may be shorter.
inline View blocks_in(View row, BlockRange blocks) {
  const std::int64_t first = std::min(blocks.first * kBlock, row.elements());
  return part_of(row, first, std::min(blocks.last * kBlock, row.elements()) - first);
}

inline View block_of(View row, std::int64_t index) { return blocks_in(row, {index, index + 1}); }

/// work(i) for one thread's items: a contiguous range, for its caches.
template <class Work>
void split_work(std::int64_t items, int thread, int threads, const Work& work) {
  for (std::int64_t i = items * thread / threads; i < items * (thread + 1) / threads; ++i) work(i);
}

}  // namespace bench::training
