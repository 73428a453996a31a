// How the time of a device in a trace divides, and what that says: work, communication and copies
// that nothing hides, and idle time by its cause. The parts add up to the span from the first work
// to the last, which is also how Holistic Trace Analysis (facebookresearch/HolisticTraceAnalysis)
// counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "results/verdicts/profile/device_trace.h"

namespace bench {

/// Calls of one kernel, copy or operation.
struct TraceRow {
  std::string name;
  DeviceWorkKind kind = DeviceWorkKind::compute;
  std::size_t calls = 0;
  double seconds = 0.0;  // of an operation: without those inside it
  double longest = 0.0;
};

/// Seconds of one device.
struct TraceBreakdown {
  std::string file;
  std::optional<int> rank = {};
  int device = -1;          // -1: the trace has no work on a device
  bool only_device = true;  // of its trace
  double span = 0.0;
  double compute = 0.0;
  double communication = 0.0;          // all of it
  double exposed_communication = 0.0;  // no kernel computes meanwhile
  double exposed_copies = 0.0;         // nor communicates
  // The device is idle. Its next work
  double idle_host = 0.0;     // was not launched yet
  double idle_launch = 0.0;   // was launched when the device was idle, and is on its way
  double idle_queued = 0.0;   // was launched before, and waits for something else
  double idle_unknown = 0.0;  // has no known launch
  /// From the end of the call that launches work to its begin, where the stream was free.
  double launch_median = kNoValue, launch_p95 = kNoValue;
  double step_median = kNoValue;  // of the steps that the framework marked
  double loading = kNoValue;      // share of these steps that waits for a data loader
  std::size_t steps = 0;
  std::vector<TraceRow> kernels = {};     // most time first
  std::vector<TraceRow> operations = {};  // of the host

  double idle() const { return idle_host + idle_launch + idle_queued + idle_unknown; }
};

/// One for each device of the trace; one without a device if it has operations alone.
std::vector<TraceBreakdown> breakdowns_of(const DeviceTrace& trace);

struct TraceFinding {
  std::string cause;  // "launch_bound", "exposed_communication", "exposed_copies", "input",
                      // "straggler"
  std::string text;
  double share = kNoValue;  // of the span, or of the step
};

/// `all`: of the ranks of one training.
std::vector<TraceFinding> findings_of(const std::vector<TraceBreakdown>& all);

/// "rank 3", "rank 3, device 1", or the file where the rank is unknown.
std::string name_of(const TraceBreakdown& breakdown);

}  // namespace bench
