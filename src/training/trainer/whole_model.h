// Compares a model that is divided over ranks with the whole one: loss and gradient of one step's
// samples, computed by the ranks together and by each alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "training/engine/replica.h"
#include "training/parallel/model_ranks.h"
#include "training/trainer/run_checks.h"
#include "training/workloads/workload.h"

namespace bench::training {

struct WholeModelComparison {
  double loss_distance = 0.0;  // relative
  /// Of the parameter whose gradient differs most: length of the difference / length, or / a
  /// thousandth of the whole gradient's length if that is more.
  double gradient_distance = 0.0;
  std::string parameter = {};
  double tolerance = 0.0;

  bool held() const { return gradient_distance <= tolerance && loss_distance <= tolerance; }
  std::string text() const;
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

/// On each rank, in addition to the training.
double bytes_to_compare_with_whole(const DividedTraining& training);
/// Parameters do not change; gradients do. Call on every rank; all get the same result.
WholeModelComparison compare_with_whole(const DividedTraining& training);

}  // namespace bench::training
