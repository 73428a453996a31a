// Follows the log of a running training until the run stops.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "mlperf/follow/progress_report.h"
#include "mlperf/log/log.h"
#include "mlperf/rcp/rcp_files.h"
#include "mlperf/rules/rule_set.h"

namespace bench::mlperf {

// Parses a log while it is being written, from pieces that may end anywhere.

class GrowingLog {
 public:
  /// Adds the next bytes of the file. A line counts once its LF or CR has arrived.
  void feed(std::string_view bytes);
  /// Marks the end of the file; an unterminated last line counts.
  void finish();

  /// Like read_log(), without the digest and the texts of lines.
  const Log& log() const { return log_; }
  /// True if the last line is incomplete.
  bool torn() const { return !rest_.empty(); }
  /// From lines that the log leaves out (left_out_key).
  const TrackedStats& stats() const { return stats_; }

 private:
  void take_line(std::string_view line);
  void take_stats(std::string_view line);

  Log log_;
  TrackedStats stats_ = {};
  std::string rest_;                 // the incomplete last line
  std::int64_t physical_bytes_ = 0;  // bytes of the counted line before `rest_`
};

// The goal of a run: its target and the convergence of the reference.

/// Values that are not logged yet or not in the rules and points stay empty, with the reason.
RunGoal goal_of(const RunFacts& facts, const RuleSet& rules, const RcpSets& points);

struct FollowCallbacks {
  /// Returns the goal for this log, as far as it is known.
  std::function<RunGoal(const Log&)> goal = {};
  /// Called at each poll; `changed` at the start and after a change: phase, evaluation, unreadable
  /// line, minute of initialisation.
  std::function<void(const ProgressReport&, bool changed)> report = {};
  /// Waits for the next poll; false stops following.
  std::function<bool()> wait = {};
  std::function<double()> now_ms = {};  // UTC, since 1970
};

/// True if the run stopped; false if `wait` returned false. A truncated or replaced file is read
/// again from its start. Throws Error(environment) if the file becomes unreadable.
bool follow_log(const std::filesystem::path& path, const FollowCallbacks& callbacks);

}  // namespace bench::mlperf
