// The operations of a recorded execution trace in place of a model's: Chakra traces (MLCommons,
// arXiv 2305.14516), which are made from those of PyTorch, as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/traffic/step_schedule.h"

namespace bench {

/// A node of a trace that computes or communicates.
struct TraceNode {
  std::uint64_t id = 0;
  TrafficKind kind = TrafficKind::compute;
  std::string group = {};  // pg_name; "" without one
  std::int64_t bytes = 0;  // comm_size: what this rank passes in
  std::int64_t peer = -1;  // of a message, among all ranks
  double seconds = 0.0;    // of a computation
};

struct ExecutionTrace {
  std::vector<TraceNode> nodes = {};  // each after those it depends on
  /// Collectives that this does not run, by name: broadcasts and others.
  std::map<std::string, std::int64_t> left_out = {};
};

/// Objects one after the other, as chakra_jsonizer writes them, a list of them, or an object with
/// such a list as "nodes". Throws Error(input) with `where` for anything else: communicating nodes
/// without the attributes that say what and how much, values that cannot be, dependencies that are
/// missing or form a cycle.
ExecutionTrace parse_execution_trace(std::string_view text, const std::string& where);

struct TraceSettings {
  /// Which group of the split a pg_name is; nodes without one are of all ranks.
  std::map<std::string, TrafficGroup> groups = {};
  Dtype dtype = Dtype::f32;
  double time_scale = 1.0;  // of computations
};

/// Every operation after the one before it. Throws Error(input) with `where` for groups that the
/// settings do not name, and ranks that are not there.
StepSchedule make_trace_schedule(const ExecutionTrace& trace, const TraceSettings& settings,
                                 const TrafficSplit& split, const TrafficPlace& place,
                                 const std::string& where);

/// Of the collectives of one group, without the sizes of all-to-alls of a model, which differ
/// between ranks: ranks whose numbers differ would deadlock.
std::uint64_t fingerprint(const StepSchedule& schedule, TrafficGroup group);

}  // namespace bench
