// What rank 0 of a training reports while it runs, as events of its job: how far it is, about once
// a second, and slowdowns at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"

namespace bench {

inline constexpr const char* kTrainingProgressEvent = "training_progress";
inline constexpr const char* kTrainingSlowdownEvent = "training_slowdown";
/// Of a training that was not started: value {"bytes", "available", ...}, of one rank.
inline constexpr const char* kOutOfMemoryEvent = "out_of_memory";

/// Rates, loss and MFU are those of the steps since the last report, without evaluations.
struct TrainingProgress {
  std::int64_t step = 0;       // steps done
  std::int64_t last_step = 0;  // where it ends if it does not meet its target; 0: unknown
  double seconds = 0.0;        // since run_start of this process
  std::string item = {};       // what is counted: "token", "sample"
  double items_per_second = 0.0;
  double step_s = 0.0;  // mean time of a step
  double loss = 0.0;
  std::optional<double> gap = {};     // of the last evaluation
  std::optional<double> target = {};  // of the gap
  std::optional<double> mfu = {};     // if a peak is known
};

/// Steps that take longer than those before them.
struct TrainingSlowdown {
  std::int64_t first = 0;                // the first slow step, counted from 0
  std::optional<std::int64_t> end = {};  // the first step that was fast again; none: still slow
  double usual_s = 0.0;                  // a step before it
  double slow_s = 0.0;                   // a slow step, mean so far
  std::string phase = {};                // which part of a step grew most, as in the breakdown
  double phase_share = 0.0;              // of the growth
};

Json to_json(const TrainingProgress& progress);
Json to_json(const TrainingSlowdown& slowdown);
/// None for anything that to_json() does not make.
std::optional<TrainingProgress> training_progress_from(const Json& json);
std::optional<TrainingSlowdown> training_slowdown_from(const Json& json);

/// "+70 %".
std::string growth_text(const TrainingSlowdown& slowdown);
/// "steps are slower since step 1200: 85.0 ms instead of 50.0 ms (+70 %), mostly in data", or that
/// they were until a step.
std::string to_text(const TrainingSlowdown& slowdown);

}  // namespace bench
