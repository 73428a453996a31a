// The progress of a running training from its log: initialisation time left, distance to the
// target, projected end, and comparison with the reference convergence points.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json.h"
#include "mlperf/log/run_facts.h"

namespace bench::mlperf {

// Projects when a training will reach its target.

/// One evaluation. Progress is in samples or epochs, depending on the benchmark.
struct EvaluationPoint {
  double progress = 0.0;
  double time_ms = 0.0;
  double quality = 0.0;
};

struct Projection {
  std::optional<double> progress = {};  // at the evaluation that reaches the target
  std::optional<double> stop_ms = {};   // end of that evaluation
  std::string why_not = {};             // why there is no projection
};

inline constexpr std::size_t kPointsForProjection = 5;  // the last five evaluations; at least three

/// Fits quality = a + b ln(progress) to the last points by least squares. The crossing with the
/// target is moved to the next evaluation, at the spacing of the last two; time advances at the
/// mean speed of the points used.
Projection project(std::span<const EvaluationPoint> points, double target, bool lower_is_better);

/// The target and reference of the benchmark; unknown values are empty.
struct RunGoal {
  std::optional<double> target = {};  // of eval_accuracy
  bool lower_is_better = false;
  std::string progress = "samples_count";  // the metadata key of progress: this or "epoch_num"
  std::string why_no_target = {};
  /// The reference at this batch, in the unit of progress.
  std::optional<double> reference_mean = {};
  std::optional<double> reference_least = {};  // the smallest mean that passes
  std::string why_no_reference = {};
};

/// The time limit of initialisation; empty for an unknown division.
std::optional<double> init_limit_minutes(std::string_view division);

// Speed between evaluations.

/// In units of progress per second, evaluations included.
struct EvaluationRate {
  std::optional<double> last = {};   // between the last two evaluations
  std::optional<double> usual = {};  // median between the earlier ones that were not slow
  /// Progress at which the current slowdown began: each rate since then is below the usual one by a
  /// factor of more than 1.25. Empty: not slow.
  std::optional<double> slow_since = {};
};

EvaluationRate evaluation_rate(std::span<const EvaluationPoint> points);

/// What a log tells between evaluations (lines with the key "tracked_stats"), as last logged.
struct TrackedStats {
  std::optional<double> time_ms = {};  // UTC, since 1970
  std::optional<double> step = {};
  std::optional<double> loss = {};        // "train_loss" or "reduced_train_loss"
  std::optional<double> throughput = {};  // in the log's own unit
  std::optional<double> step_seconds = {};
};

enum class RunPhase { waiting, initialising, initialised, training, stopped };

enum class Pace {
  unknown,
  too_fast,  // a mean this small fails
  scaled,    // between the minimum and the reference mean: the score is scaled
  unscaled   // at or above the reference mean
};

struct ProgressReport {
  RunPhase phase = RunPhase::waiting;
  std::string benchmark = {}, division = {};
  std::optional<double> init_minutes = {};       // so far, or total
  std::optional<double> init_left_minutes = {};  // negative: over the limit
  std::optional<double> run_minutes = {};        // so far, or total
  std::size_t evaluations = 0;
  std::optional<double> quality = {};   // of the last one
  std::optional<double> progress = {};  // likewise
  std::optional<double> distance = {};  // to the target; at most 0: reached
  EvaluationRate rate = {};
  TrackedStats stats = {};
  Projection projection = {};                    // during training
  std::optional<double> projected_minutes = {};  // total time to train
  Pace pace = Pace::unknown;                     // of this run, at its last or projected evaluation
  RunGoal goal = {};
  std::string status = {};  // of run_stop
  std::size_t invalid_lines = 0;
  std::optional<double> last_line_ms = {};  // time in the last line, UTC since 1970
};

/// `now_ms`: UTC, since 1970.
ProgressReport progress_of(const Log& log, const RunGoal& goal, double now_ms);

}  // namespace bench::mlperf
