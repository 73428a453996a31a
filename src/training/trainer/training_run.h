// The result of one training, from which its records are made. Equal on all ranks but for the
// profile.
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
#include "training/trainer/step_profile.h"

namespace bench::training {

/// The phases of a run, which add up to a rank's wall time with the remainder, `other`. The lanes
/// (threads) of a rank are averaged; the rest of a step is `lane_wait`: lanes that wait for each
/// other and sum their gradients. `exchange_hidden`, behind the backward pass, takes no additional
/// time and has no share.
enum class RunPhase {
  data,
  rollout,
  transfer,
  forward,
  backward,
  tensor_exchange,   // sums over the ranks that divide matrices
  context_exchange,  // keys and values of other tokens
  expert_exchange,   // rows to experts of other ranks and back
  pipeline_wait,     // for other stages of a pipeline
  exchange_exposed,
  compression,  // of exchanged gradients, and restoring them
  optimizer,
  offload_wait,  // for optimizer state in a file
  lane_wait,
  evaluation,
  checkpoint,
  checks,
  other,
  exchange_hidden
};
constexpr std::size_t kRunPhases = static_cast<std::size_t>(RunPhase::exchange_hidden) + 1;
std::string_view to_string(RunPhase phase);

struct PhaseTime {
  RunPhase phase = RunPhase::other;
  Seconds mean;                      // over ranks, of the whole run
  int slowest_rank = 0;              // the rank with the largest value
  std::optional<double> share = {};  // of the wall time
};

/// The share of passes, exchanges within them included, that stages of a pipeline wait.
double pipeline_bubble(const std::vector<PhaseTime>& breakdown);

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

/// One evaluation.
struct CurvePoint {
  std::int64_t step = 0;  // steps done
  double samples = 0.0;   // trained on so far
  double seconds = 0.0;   // since run_start
  double gap = 0.0;
  double native = 0.0;
  double floor = 0.0;
  double loss = 0.0;  // mean training loss since the previous evaluation
};

/// Whether a gap meets the target; never for NaN or without a target.
inline bool meets(double gap, std::optional<double> target) { return target && gap <= *target; }

/// The samples at which the line through the last two evaluations meets the target; those of the
/// last one if it is the only one or the line does not fall; none if it misses the target.
std::optional<double> samples_to_target(const std::vector<CurvePoint>& curve,
                                        std::optional<double> target);

struct TrainedStep {
  double loss = 0.0;           // mean over the global batch
  double gradient_norm = 0.0;  // before clipping; not finite if the step was skipped
  double rate = 0.0;           // learning rate
  /// Of the slowest rank, data and exchange included. Local steps: the mean of ranks, which wait
  /// for each other in a period's last step only.
  double seconds = 0.0;
};

struct MemoryUse {
  std::string label;
  std::int64_t bytes = 0;  // at the peak, of the rank that uses most
};

/// Optimizer state in files. Times are means over ranks.
struct Offload {
  double bytes = 0.0;        // of the files of all ranks
  double moved = 0.0;        // read and written, of all ranks
  std::int64_t windows = 0;  // of a rank's file, at most
  Seconds moving, hashing;   // reading and writing, and verifying in the same thread
  Seconds updating;          // parameters whose state is there
  Seconds waited;            // for state
  bool direct = false;       // past the page cache, on all ranks
};

/// How long a run with these phases should wait for its optimizer state, if transfers were hidden
/// behind all that they can be: three windows of a step behind its passes, the others behind its
/// updates.
Seconds expected_wait(const Offload& offload, const std::vector<PhaseTime>& breakdown);

struct SavedCheckpoint {
  std::int64_t step = 0;  // steps done
  double seconds = 0.0;   // of the slowest rank
  double bytes = 0.0;     // of all ranks
};

struct TrainingRun {
  std::int64_t first_step = 0;          // above 0 if the run was resumed
  std::vector<TrainedStep> steps = {};  // from there
  std::vector<SavedCheckpoint> checkpoints = {};
  std::vector<CurvePoint> curve = {};
  std::vector<std::pair<std::string, double>> parts = {};  // of the last gap, by name
  std::vector<PhaseTime> breakdown = {};
  /// Time on a processor of the steps' phases, mean over threads and ranks; on hosts.
  struct Processor {
    Seconds data, forward, backward, update;
  };
  Processor processor = {};
  std::vector<MemoryUse> memory = {};
  std::optional<Offload> offload = {};
  std::optional<StepProfile> profile = {};  // of this rank
  std::vector<TrainingCheck> checks = {};
  std::string not_compared = {};  // why a divided model was not compared with the whole one
  Seconds initialisation;         // until run_start
  Seconds wall;                   // from run_start to run_stop, of this process
  /// Excess of the slowest rank's forward and backward pass over the mean of the ranks, step by
  /// step, as a share of the mean.
  double straggler_spread = 0.0;
  bool converged = false;  // the target was met; independent of the checks
  /// The final loss scale and the number of skipped steps, in f16 only.
  std::optional<LossScale::State> loss_scale = {};
  std::optional<double> samples_to_target = {};  // exact to the interval of evaluations
  std::optional<double> samples_to_target_interpolated = {};
};

/// Progress of a run that a checkpoint stores in addition to the model.
struct RunProgress {
  Seconds elapsed;  // since run_start, without the time between two processes
  std::vector<CurvePoint> curve = {};
  GradientOutliers::Averages norms = {};
  LossScale::State loss_scale = {};
};

Json to_json(const RunProgress& progress);
/// Throws Error(input) for anything that to_json() does not make.
RunProgress run_progress_from_json(const Json& json);

}  // namespace bench::training
