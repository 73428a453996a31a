// Follows a log that a running training writes, until the run stops.
#pragma once

#include <filesystem>
#include <functional>

#include "results/mlperf/follow/progress_report.h"

namespace bench::mlperf {

struct FollowCallbacks {
  /// What the rules ask of this log, so far as it tells.
  std::function<RunGoal(const Log&)> goal = {};
  /// At the beginning and when something changed: the phase, an evaluation, a line that cannot be
  /// read, a minute of initialisation.
  std::function<void(const ProgressReport&)> tell = {};
  /// Lets time pass; false ends the following.
  std::function<bool()> wait = {};
  std::function<double()> now_ms = {};  // UTC, since 1970
};

/// True: the run stopped; false: `wait` ended it. A file that is cut short or replaced is read anew
/// from its beginning. Throws Error(environment) where it cannot be read (any more).
bool follow_log(const std::filesystem::path& path, const FollowCallbacks& callbacks);

}  // namespace bench::mlperf
