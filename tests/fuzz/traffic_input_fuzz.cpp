// Hostile traces and recorded routings: refused with an Error, or with operations that can be run.
#include <cstdint>
#include <string>

#include "core/error.h"
#include "probes/traffic/expert_routing.h"
#include "probes/traffic/trace_matching.h"
#include "probes/traffic/trace_schedule.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;
using namespace bench;

namespace {

template <class Work>
void try_input(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    demand(error.kind() == ErrorKind::input, error.what());
  }
}

void try_trace(const std::string& text) {
  const ExecutionTrace trace = parse_execution_trace(text, "fuzz");
  for (const TraceNode& node : trace.nodes) {
    demand(node.bytes >= 0 && node.bytes <= (std::int64_t{1} << 40), "a size that cannot be");
    demand(node.seconds >= 0.0 && node.seconds <= 3600.0, "a time that cannot be");
  }
  const StepSchedule schedule = make_trace_schedule(trace, {}, {}, traffic_place({}, 1, 4), "fuzz");
  for (const TrafficOp& op : schedule.ops) {
    demand(op.slot < schedule.slots, "an operation without a buffer");
    demand(op.payload(4) >= 0, "a negative payload");
    demand(op.peer >= 0 && op.peer < 4, "a message for a rank that is not there");
  }
  const std::vector<TraceCall> calls = trace_calls(schedule);
  demand(trace_calls_from(to_text(calls)) == calls, "a list that changes on its way");
  static_cast<void>(trace_mismatch({calls, calls, calls, calls}, {}));
}

void try_routing(const std::string& text) {
  const ExpertRouting routing = ExpertRouting::recorded(text, 4, "fuzz");
  std::int64_t sum = 0;
  for (const std::int64_t count : routing.counts(0, 0, 0, 10, 20)) {
    demand(count >= 0 && count <= 10, "a count that cannot be");
    sum += count;
  }
  demand(sum == 20, "tokens are lost");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_input([&] { try_trace(text); });
  try_input([&] { try_routing(text); });
  return 0;
}
