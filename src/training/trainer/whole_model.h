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

/// The whole model takes memory on every rank: none if that is more than `most_bytes`, or if the
/// model is not on a host. Parameters do not change; gradients do. `fill` writes this copy's
/// samples of a step into the inputs of either model. Call on every rank; all get the same result.
std::optional<WholeModelComparison> compare_with_whole(
    const Workload& workload, const ModelRanks& ranks, Replica& replica,
    const KernelFactory& kernels, bool recompute, double most_bytes,
    const std::function<void(const Model& model, const Lane& lane, int micro_batch)>& fill,
    const Model& part, std::int64_t micro_batch);

}  // namespace bench::training
