// A step of training as it is described: model, split, micro-batches and how ranks exchange.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/dtype.h"
#include "probes/traffic/expert_routing.h"
#include "probes/traffic/traffic_model.h"
#include "probes/traffic/traffic_split.h"

namespace bench {

enum class ContextExchange { ring, all_gather };

struct StepSettings {
  TrafficModel model = {};
  TrafficSplit split = {};
  std::int64_t micro_batch = 1;    // samples
  std::int64_t micro_batches = 1;  // of a rank in a step
  Dtype dtype = Dtype::f32;
  std::int64_t bucket_bytes = 25'000'000;
  /// Gradients are exchanged during the backward pass, where nothing else is.
  bool overlap = true;
  /// The library sums; else ranks exchange parts, and each sums its own in the order of ranks.
  bool sums_by_library = false;
  ContextExchange context = ContextExchange::ring;
  ExpertRouting routing = ExpertRouting::drawn(1, 0.0, 1);

  /// Throws Error(input) for a model that cannot be split like this, or of sizes beyond any step.
  void check() const;
};

/// Operations of one rank, GEMMs included, that a schedule may have.
inline constexpr std::size_t kMostOperations = std::size_t{1} << 22;
/// Throws Error(input).
[[noreturn]] void refuse_operations();

}  // namespace bench
