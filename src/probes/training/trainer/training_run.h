// The result of one training, from which its records are made. Equal on all ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/training/optimizers/loss_scale.h"
#include "probes/training/trainer/batch_split.h"
#include "probes/training/trainer/breakdown.h"
#include "probes/training/trainer/convergence.h"
#include "probes/training/trainer/training_check.h"

namespace bench::training {

struct TrainedStep {
  double loss = 0.0;           // mean over the global batch
  double gradient_norm = 0.0;  // before clipping; not finite where the step was skipped
  double rate = 0.0;           // of learning
  double seconds = 0.0;        // of the slowest rank, data and exchange included
};

struct MemoryUse {
  std::string label;
  std::int64_t bytes = 0;  // of this rank, at its fullest
};

struct SavedCheckpoint {
  std::int64_t step = 0;  // after so many
  double seconds = 0.0;   // of the slowest rank
  double bytes = 0.0;     // of all ranks
};

struct TrainingRun {
  std::int64_t first_step = 0;          // above 0 where the run was resumed
  std::vector<TrainedStep> steps = {};  // from there
  std::vector<SavedCheckpoint> checkpoints = {};
  std::vector<CurvePoint> curve = {};
  std::vector<std::pair<std::string, double>> parts = {};  // of the last gap, by name
  std::vector<PhaseTime> breakdown = {};
  std::vector<MemoryUse> memory = {};
  std::vector<TrainingCheck> checks = {};
  Seconds initialisation;  // until run_start
  Seconds wall;            // from run_start to run_stop, of this process
  /// By how much the slowest rank's forward and backward pass is longer than that of ranks in the
  /// mean, step by step, as a share.
  double straggler_spread = 0.0;
  bool converged = false;  // the target was met; what the checks found is apart
  /// Of gradients in f16: how it ended, and how many steps it made skip (optimizers/loss_scale.h).
  std::optional<LossScale::State> loss_scale = {};
  std::optional<double> samples_to_target = {};               // at the grain of evaluations
  std::optional<double> samples_to_target_interpolated = {};  // convergence.h
};

}  // namespace bench::training
