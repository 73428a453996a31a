// Follows the log of a running training until the run stops.
#pragma once

#include <filesystem>
#include <functional>

#include "results/mlperf/follow/progress_report.h"

namespace bench::mlperf {

struct FollowCallbacks {
  /// Returns the goal for this log, as far as it is known.
  std::function<RunGoal(const Log&)> goal = {};
  /// Called at the start and on each change: phase, evaluation, unreadable line, minute of
  /// initialisation.
  std::function<void(const ProgressReport&)> report = {};
  /// Waits for the next poll; false stops following.
  std::function<bool()> wait = {};
  std::function<double()> now_ms = {};  // UTC, since 1970
};

/// True if the run stopped; false if `wait` returned false. A truncated or replaced file is read
/// again from its start. Throws Error(environment) if the file becomes unreadable.
bool follow_log(const std::filesystem::path& path, const FollowCallbacks& callbacks);

}  // namespace bench::mlperf
