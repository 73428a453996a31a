// Compares a model that is divided over ranks with the whole one: loss and gradient of one step's
// samples, computed by the ranks together and by each alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "training/engine/replica.h"
#include "training/parallel/model_ranks.h"
#include "training/trainer/run_checks.h"
#include "training/workloads/workload.h"

namespace bench::training {

struct WholeModelComparison {
  double gradient_distance = 0.0;  // length of the difference / length, over all parts
  double loss_distance = 0.0;      // relative
  double tolerance = 0.0;
  bool held() const { return gradient_distance <= tolerance && loss_distance <= tolerance; }
};

/// A training of which each rank has a part of the model.
struct DividedTraining {
  const Workload& workload;
  const ModelRanks& ranks;
  Replica& replica;
  const Model& part;
  std::int64_t micro_batch = 0;
  bool recompute = false;
  const KernelFactory& kernels;
  /// Writes samples of the step to be compared into the inputs of the part or of a whole model.
  std::function<void(const Model& model, const Lane& lane, int copy, int micro_batch)> fill = {};
};

/// The whole model takes memory on every rank: none if that is more than `most_bytes`, or if the
/// model is not on a host. Parameters do not change; gradients do. Call on every rank; all get the
/// same result.
std::optional<WholeModelComparison> compare_with_whole(const DividedTraining& training,
                                                       double most_bytes);

}  // namespace bench::training
