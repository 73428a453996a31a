#include "probes/training/engine/arena_layout.h"

#include <algorithm>

namespace bench::training {
namespace {

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool alive_together(const Buffer& a, const Buffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The lowest offset that keeps clear of `placed`, which are sorted by offset.
std::int64_t lowest_gap(const Buffer& buffer, const std::vector<const Buffer*>& placed) {
  std::int64_t offset = 0;
  for (const Buffer* other : placed) {
    if (!alive_together(buffer, *other)) continue;
    if (offset + buffer.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + aligned(other->bytes));
  }
  return offset;
}

std::int64_t share(std::vector<Buffer*>& buffers) {
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  std::int64_t end = 0;
  std::vector<const Buffer*> placed;
  for (Buffer* buffer : buffers) {
    buffer->offset = lowest_gap(*buffer, placed);
    end = std::max(end, buffer->offset + aligned(buffer->bytes));
    const auto before = [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), buffer, before), buffer);
  }
  return end;
}

}  // namespace

std::int64_t lay_out(std::vector<Buffer>& buffers, Arena arena) {
  std::vector<Buffer*> ours;
  for (Buffer& buffer : buffers)
    if (buffer.arena == arena) ours.push_back(&buffer);
  if (arena == Arena::transient) return share(ours);
  std::int64_t end = 0;
  for (Buffer* buffer : ours) {
    buffer->offset = end;
    end += aligned(buffer->bytes);
  }
  return end;
}

}  // namespace bench::training
