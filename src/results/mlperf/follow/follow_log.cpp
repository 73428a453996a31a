#include "results/mlperf/follow/follow_log.h"

#include <cmath>
#include <optional>
#include <utility>

#include "results/mlperf/follow/growing_log.h"
#include "results/mlperf/follow/log_tail.h"

namespace bench::mlperf {
namespace {

/// What makes a report worth telling: another one of these than before.
struct Told {
  RunPhase phase = RunPhase::waiting;
  std::size_t evaluations = 0;
  std::size_t troubles = 0;
  double minute = 0.0;  // of initialisation

  bool operator==(const Told&) const = default;
};

Told essence(const ProgressReport& report) {
  const bool initialising = report.phase == RunPhase::initialising;
  return {report.phase, report.evaluations, report.troubles,
          initialising ? std::floor(report.init_minutes.value_or(0.0)) : 0.0};
}

}  // namespace

bool follow_log(const std::filesystem::path& path, const Following& following) {
  LogTail tail(path);
  GrowingLog growing;
  std::optional<Told> told;
  for (;;) {
    LogTail::Piece piece = tail.more();
    if (piece.anew) {
      growing = GrowingLog();
      told.reset();
    }
    growing.feed(piece.bytes);
    const Log& log = growing.log();
    const ProgressReport report = progress_of(log, following.goal(log), following.now_ms());
    const Told now = essence(report);
    if (told != now) following.tell(report);
    told = now;
    if (report.phase == RunPhase::stopped) return true;
    if (piece.all && !following.wait()) return false;
  }
}

}  // namespace bench::mlperf
