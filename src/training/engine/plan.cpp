#include "training/engine/plan.h"

#include <algorithm>
#include <numeric>

#include "training/engine/planner.h"

namespace bench::training {
namespace {

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool alive_together(const Buffer& a, const Buffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The lowest offset that does not overlap `placed`, which is sorted by offset.
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

/// Sets the offsets of the buffers of one arena and returns its size. In `transient`, buffers with
/// disjoint lifetimes share memory: largest first, each at the lowest free offset.
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

}  // namespace

double traffic_of(const Action& action) {
  std::int64_t bytes =
      action.output.bytes() + action.workspace.bytes() + action.output_gradient.bytes();
  for (const auto* slots : {&action.inputs, &action.saved, &action.input_gradients})
    for (const Slot& slot : *slots) bytes += slot.bytes();
  return static_cast<double>(bytes);
}

double flops_of(const Action& action, const Operator& op) {
  if (action.phase != Phase::backward) return op.flops();
  std::vector<bool> needed;
  for (const Slot& gradient : action.input_gradients) needed.push_back(gradient.buffer >= 0);
  return op.backward_flops(needed);
}

std::string_view to_string(Label label) {
  constexpr std::string_view kNames[] = {"parameters", "constants",   "gradients",
                                         "inputs",     "activations", "activation_gradients",
                                         "workspace",  "padding"};
  return kNames[static_cast<std::size_t>(label)];
}

std::string_view to_string(Phase phase) {
  constexpr std::string_view kNames[] = {"forward", "recompute", "backward"};
  return kNames[static_cast<std::size_t>(phase)];
}

LabelBytes Plan::bytes_in_use(int action) const {
  LabelBytes bytes = {};
  for (const Buffer& buffer : buffers)
    if (buffer.arena == Arena::transient && buffer.first <= action && action <= buffer.last)
      bytes[static_cast<std::size_t>(buffer.label)] += buffer.bytes;
  return bytes;
}

LabelBytes Plan::peak_bytes() const {
  LabelBytes peak = {};
  std::int64_t most = -1;
  for (int now = 0; now < static_cast<int>(actions.size()); ++now) {
    const LabelBytes bytes = bytes_in_use(now);
    const std::int64_t sum = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    if (sum <= most) continue;
    most = sum;
    peak = bytes;
  }
  const auto at = [&](Label label) -> std::int64_t& {
    return peak[static_cast<std::size_t>(label)];
  };
  at(Label::padding) = bytes(Arena::transient) - std::max<std::int64_t>(most, 0);
  at(Label::parameters) = bytes(Arena::parameters);
  at(Label::constants) = bytes(Arena::constants);
  at(Label::gradients) = bytes(Arena::gradients);
  at(Label::inputs) = bytes(Arena::inputs);
  return peak;
}

Plan make_plan(const Graph& graph, bool training, WeightGradients weights) {
  Plan plan = Planner(graph, training, weights).make();
  for (std::size_t arena = 0; arena < kArenas; ++arena)
    plan.arena_bytes[arena] = lay_out(plan.buffers, static_cast<Arena>(arena));
  return plan;
}

}  // namespace bench::training
