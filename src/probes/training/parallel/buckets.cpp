#include "probes/training/parallel/buckets.h"

#include <algorithm>

namespace bench::training {
namespace {

/// By block of the gradient row, of which `total` are there: the action after which it is final.
std::vector<int> final_actions(const Plan& plan, std::int64_t bytes_of_block, std::int64_t total) {
  std::vector<int> actions(static_cast<std::size_t>(total), -1);
  for (const auto& [tensor, action] : plan.gradient_order) {
    const Slot& slot = plan.gradients[static_cast<std::size_t>(tensor)];
    const Buffer& buffer = plan.buffers[static_cast<std::size_t>(slot.buffer)];
    const std::int64_t last = (buffer.offset + buffer.bytes - 1) / bytes_of_block;
    for (std::int64_t block = buffer.offset / bytes_of_block; block <= last; ++block) {
      int& known = actions[static_cast<std::size_t>(block)];
      known = std::max(known, action);
    }
  }
  return actions;
}

}  // namespace

std::vector<Bucket> make_buckets(const Plan& plan, std::int64_t bytes, int ranks) {
  const std::int64_t block_bytes =
      kBlock * static_cast<std::int64_t>(size_of(plan.graph->compute()));
  const std::int64_t total = (plan.bytes(Arena::gradients) + block_bytes - 1) / block_bytes;
  const std::vector<int> actions = final_actions(plan, block_bytes, total);
  const std::int64_t each = std::max<std::int64_t>(1, bytes / (block_bytes * ranks)) * ranks;
  std::vector<Bucket> buckets;
  int action = plan.backward_begin;
  for (std::int64_t first = 0; first < total; first += each) {
    const BlockRange blocks{first, std::min(first + each, total)};
    for (std::int64_t block = blocks.first; block < blocks.last; ++block)
      action = std::max(action, actions[static_cast<std::size_t>(block)]);
    buckets.push_back({blocks, action});
  }
  return buckets;
}

}  // namespace bench::training
