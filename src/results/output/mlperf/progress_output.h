// The progress of a running training, for people and for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "mlperf/follow/progress_report.h"

namespace bench::mlperf {

/// Human-readable text without a final line end; safe to print.
std::string to_text(const ProgressReport& report);
/// The same in short, to be redrawn.
std::string to_line(const ProgressReport& report);
/// Gauges for node_exporter's textfile collector; `log` is a label.
std::string to_prometheus(const ProgressReport& report, const std::string& log);
/// Keys: phase, benchmark, division, init {minutes, left_minutes}, run_minutes, evaluations,
/// quality, target, progress, unit, distance, rate {last, usual, slow_since}, logged {step, loss,
/// throughput, step_seconds}, projection {progress, minutes, why_not}, rcp {mean,
/// minimum, pace, why_not}, status, troubles, note.
Json to_json(const ProgressReport& report);

}  // namespace bench::mlperf
