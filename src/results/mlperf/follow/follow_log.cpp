#include "results/mlperf/follow/follow_log.h"

#include <cmath>
#include <optional>
#include <utility>

#include "results/mlperf/follow/growing_log.h"
#include "results/mlperf/follow/log_tail.h"

namespace bench::mlperf {
namespace {

/// A report is printed when one of these changes.
struct ReportedState {
  RunPhase phase = RunPhase::waiting;
  std::size_t evaluations = 0;
  std::size_t invalid_lines = 0;
  double minute = 0.0;  // of initialisation

  bool operator==(const ReportedState&) const = default;
};

ReportedState state_of(const ProgressReport& report) {
  const bool initialising = report.phase == RunPhase::initialising;
  return {report.phase, report.evaluations, report.invalid_lines,
          initialising ? std::floor(report.init_minutes.value_or(0.0)) : 0.0};
}

}  // namespace

bool follow_log(const std::filesystem::path& path, const FollowCallbacks& callbacks) {
  LogTail tail(path);
  GrowingLog growing;
  std::optional<ReportedState> last_reported;
  for (;;) {
    LogTail::Piece piece = tail.more();
    if (piece.restarted) {
      growing = GrowingLog();
      last_reported.reset();
    }
    growing.feed(piece.bytes);
    const Log& log = growing.log();
    const ProgressReport report = progress_of(log, callbacks.goal(log), callbacks.now_ms());
    const ReportedState now = state_of(report);
    if (last_reported != now) callbacks.report(report);
    last_reported = now;
    if (report.phase == RunPhase::stopped) return true;
    if (piece.all && !callbacks.wait()) return false;
  }
}

}  // namespace bench::mlperf
