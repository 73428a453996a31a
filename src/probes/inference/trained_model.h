// A model that this process has trained, so that the quality of answers is measured on one that has
// learned something.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/group.h"
#include "training/parallel/training_kernels.h"
#include "training/workloads/workload.h"

namespace bench {

struct TrainedModel {
  std::map<std::string, std::vector<float>> parameters = {};  // by name
  double gap = 0.0;                                           // of its last evaluation
  std::int64_t evaluated = 0;  // samples of that evaluation, the first ones
  std::int64_t steps = 0;
  bool converged = false;  // it met the target

  /// Adds what a report must say of it.
  void describe(Json& facts, Json& warnings) const;
};

/// Trains in f32 to the target, or to the horizon. Throws like Trainer.
TrainedModel train_model(training::Workload& workload, std::uint64_t seed, TrainingKernels& kernels,
                         int cores, Group& group);

}  // namespace bench
