// How far a running training is, from its log so far: the time left to initialise, the distance to
// the target, when it will be there, and what the reference convergence points say of that.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "results/mlperf/follow/projection.h"
#include "results/mlperf/log/run_facts.h"

namespace bench::mlperf {

/// What the rules ask of the benchmark; what is not known stays empty.
struct RunGoal {
  std::optional<double> target = {};  // of eval_accuracy
  bool lower_is_better = false;
  std::string progress = "samples_count";  // the metadata that counts: that, or "epoch_num"
  std::string why_no_target = {};
  /// Of the reference at this batch, in the unit of progress.
  std::optional<double> reference_mean = {};
  std::optional<double> reference_least = {};  // the smallest mean that passes
  std::string why_no_reference = {};
};

/// Minutes that initialisation may take; nothing for a division that has no such rule.
std::optional<double> init_limit_minutes(std::string_view division);

enum class RunPhase { waiting, initialising, initialised, training, stopped };
std::string_view to_string(RunPhase phase);  // "waiting", "initialising", ...

enum class Pace {
  unknown,
  too_fast,  // a mean as small as this is refused
  scaled,    // between the smallest mean that passes and that of the reference: the score is scaled
  unscaled   // at the reference's mean or beyond
};
std::string_view to_string(Pace pace);  // "unknown", "too fast", "scaled", "unscaled"

struct ProgressReport {
  RunPhase phase = RunPhase::waiting;
  std::string benchmark = {}, division = {};
  std::optional<double> init_minutes = {};       // so far, or in all
  std::optional<double> init_left_minutes = {};  // negative: over the limit
  std::optional<double> run_minutes = {};        // so far, or in all
  std::size_t evaluations = 0;
  std::optional<double> quality = {};   // of the last one
  std::optional<double> progress = {};  // likewise
  std::optional<double> distance = {};  // still to go to the target; at most 0: it is reached
  Projection projection = {};           // while it trains
  std::optional<double> projected_minutes = {};  // to train, in all
  Pace pace = Pace::unknown;  // of this run alone, at its last or projected evaluation
  RunGoal goal = {};
  std::string status = {};  // of run_stop
  std::size_t troubles = 0;
};

/// `now_ms`: UTC, since 1970.
ProgressReport progress_of(const Log& log, const RunGoal& goal, double now_ms);

/// One line or more for people, without an end of line at the last one; safe to print.
std::string to_text(const ProgressReport& report);
/// Keys: phase, benchmark, division, init {minutes, left_minutes}, run_minutes, evaluations,
/// quality, target, progress, unit, distance, projection {progress, minutes, why_not}, rcp {mean,
/// minimum, pace, why_not}, status, troubles, note.
Json to_json(const ProgressReport& report);

}  // namespace bench::mlperf
