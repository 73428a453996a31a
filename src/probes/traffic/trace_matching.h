// Whether the operations of all ranks' traces meet: each collective at all ranks of its group, each
// message at its receiver. Runs the ranks' lists once without data, because ranks that do not meet
// would deadlock in a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "devices/group.h"
#include "probes/traffic/step_schedule.h"

namespace bench {

/// What others see of an operation.
struct TraceCall {
  TrafficKind kind = TrafficKind::control;
  TrafficGroup group = TrafficGroup::all;
  int peer = 0;  // of a message, in the group
  std::int64_t elements = 0;
  std::uint64_t node = 0;

  bool operator==(const TraceCall&) const = default;
};

std::vector<TraceCall> trace_calls(const StepSchedule& schedule);
std::string to_text(const std::vector<TraceCall>& calls);
/// Throws Error(internal) for what to_text() does not write.
std::vector<TraceCall> trace_calls_from(std::string_view text);

/// A rank's next send waits for the oldest of so many messages, as over MPI.
constexpr std::size_t kMostUndeliveredSends = 64;

/// Why the ranks (in their order) would not come to the end of their lists, naming rank and node;
/// "" if they do, and every message is received.
std::string trace_mismatch(const std::vector<std::vector<TraceCall>>& ranks,
                           const TrafficSplit& split);

/// The same for the schedules of a job's ranks, on every rank. Every rank calls it.
std::string trace_mismatch(Group& all, const StepSchedule& schedule, const TrafficSplit& split);

}  // namespace bench
