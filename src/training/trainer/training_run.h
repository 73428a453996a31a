// The result of one training, from which its records are made. Equal on all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "devices/group.h"
#include "training/optimizers/gradient_outliers.h"
#include "training/optimizers/loss_scale.h"
#include "training/trainer/batch_split.h"
#include "training/trainer/run_checks.h"

namespace bench::training {

// The time breakdown of a run. The phases of one rank add up to its wall time: the remainder is
// `other`. The lanes (threads) of a rank are averaged; the rest of a step is `lane_wait`: lanes
// that wait for each other and sum their gradients. The exchange hidden behind the backward pass
// costs no time of its own and has no share.

enum class RunPhase {
  data,
  transfer,
  forward,
  backward,
  exchange_exposed,
  optimizer,
  lane_wait,
  evaluation,
  checkpoint,
  checks,
  other,
  exchange_hidden
};
constexpr std::size_t kRunPhases = 12;
std::string_view to_string(RunPhase phase);

struct PhaseTime {
  RunPhase phase = RunPhase::other;
  Seconds mean;                      // over ranks, of the whole run
  int slowest_rank = 0;              // the rank with the largest value
  std::optional<double> share = {};  // of the wall time
};

class Breakdown {
 public:
  void add(RunPhase phase, Seconds time) { at(phase) += time; }
  Seconds of(RunPhase phase) const { return times_[static_cast<std::size_t>(phase)]; }
  /// Call on every rank with its own wall time; all get the same result, in the order above.
  std::vector<PhaseTime> over_ranks(Group& group, Seconds wall) const;

 private:
  Seconds& at(RunPhase phase) { return times_[static_cast<std::size_t>(phase)]; }

  std::array<Seconds, kRunPhases> times_ = {};
};

// When a run has reached its target. A run is evaluated every so many samples, so the number of
// samples it needed is known to that grain; a line between the last two evaluations is more
// precise, and every use labels it as interpolated.

/// One evaluation.
struct CurvePoint {
  std::int64_t step = 0;  // after so many
  double samples = 0.0;   // trained on so far
  double seconds = 0.0;   // since run_start
  double gap = 0.0;
  double native = 0.0;
  double floor = 0.0;
  double loss = 0.0;  // mean of training since the evaluation before
};

/// Whether a gap meets the target; one that is no number does not, and where there is no target
/// none does.
inline bool meets(double gap, std::optional<double> target) { return target && gap <= *target; }

/// The samples at which the line through the last two points meets the target; those of the last
/// point where it is the only one, or where the line does not fall. Nothing where the last point
/// does not meet the target.
std::optional<double> samples_to_target(const std::vector<CurvePoint>& curve,
                                        std::optional<double> target);

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

/// Progress of a run that a checkpoint stores in addition to the model.
struct RunProgress {
  Seconds elapsed;  // since run_start, without the time between two processes
  std::vector<CurvePoint> curve = {};
  GradientOutliers::Averages norms = {};
  LossScale::State loss_scale = {};
};

Json to_json(const RunProgress& progress);
/// Throws Error(input) for what to_json() does not make.
RunProgress run_progress_from_json(const Json& json);

}  // namespace bench::training
