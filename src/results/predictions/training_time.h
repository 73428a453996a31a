// The time of a training step, and of a training to a number of tokens.
#pragma once

#include <optional>

#include "core/model_shape.h"
#include "results/predictions/prediction.h"
#include "results/predictions/training_memory.h"

namespace bench {

/// What a device does in a step besides communication.
struct ComputeRate {
  double flops_per_second = 0.0;  // attained on the matrices of this model, not a peak
  double low = 0.0, high = 0.0;
  std::string source;
};

struct StepQuestion {
  ModelShape model;
  TrainingSplit split = {};
  double global_batch = 0.0;  // sequences
  double micro_batch = 1.0;
  double sequence = 0.0;  // 0: the model's
  ComputeRate compute = {};
  double tensor_bytes_per_second = 0.0;   // of a device to those of its tensor group, one direction
  double data_bytes_per_second = 0.0;     // to those of its data-parallel group
  double context_bytes_per_second = 0.0;  // to the next of its context-parallel group
  double expert_bytes_per_second = 0.0;   // to those of its expert-parallel group
  double gradient_bytes = 2.0;            // of a parameter
  double activation_bytes = 2.0;
  /// Share of the gradient exchange that the backward pass hides, 0 to 1.
  double overlap = 0.0;
  double input_s = 0.0;  // to load the batch of a step, hidden behind the step before
  /// Full: the forward pass of every layer is done again, with its operations and messages.
  Recompute recompute = Recompute::none;
};

/// Compute, exposed communication, bubble and input. The ring of context parallelism is exposed
/// where it takes longer than attention, whose parts it passes between; high: all of it. Throws
/// Error(input) for a batch that the split does not divide, and for a group without a bandwidth.
Prediction predict_step(const StepQuestion& question);

struct TrainQuestion {
  ModelShape model;
  double tokens = 0.0;
  double sequence = 0.0;
  int devices = 1;
  double peak_flops = 0.0;  // of a device
  std::string peak_source = {};
  double mfu = 0.4, mfu_low = 0.35, mfu_high = 0.45;
  std::string mfu_source = "default: large runs reach 35 to 45 %";
  double available = 1.0;  // share of the time in which the training advances (goodput)
  std::optional<double> dollars_per_device_hour = {};
};

Prediction predict_train(const TrainQuestion& question);

/// Parameters and tokens that give the least loss for a number of operations: 20 tokens per
/// parameter (Hoffmann et al. 2022, approaches 1 and 2).
Prediction predict_optimal_split(double flops);

}  // namespace bench
