#include "probes/training/engine/plan.h"

#include <algorithm>

#include "probes/training/engine/arena_layout.h"
#include "probes/training/engine/planner.h"

namespace bench::training {

std::string_view to_string(Label label) {
  constexpr std::string_view kNames[] = {"parameters", "constants",   "gradients",
                                         "inputs",     "activations", "activation_gradients",
                                         "workspace",  "padding"};
  return kNames[static_cast<std::size_t>(label)];
}

std::array<std::int64_t, kMemoryLabels> Plan::peak_bytes() const {
  std::array<std::int64_t, kMemoryLabels> peak = {};
  std::int64_t most = -1;
  for (int now = 0; now < static_cast<int>(actions.size()); ++now) {
    std::array<std::int64_t, kMemoryLabels> bytes = {};
    std::int64_t sum = 0;
    for (const Buffer& buffer : buffers)
      if (buffer.arena == Arena::transient && buffer.first <= now && now <= buffer.last) {
        bytes[static_cast<std::size_t>(buffer.label)] += buffer.bytes;
        sum += buffer.bytes;
      }
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

Plan make_plan(const Graph& graph, bool training) {
  Plan plan = Planner(graph, training).make();
  for (std::size_t arena = 0; arena < kArenas; ++arena)
    plan.arena_bytes[arena] = lay_out(plan.buffers, static_cast<Arena>(arena));
  return plan;
}

}  // namespace bench::training
