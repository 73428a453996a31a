// The host time of launching work on a device: empty kernels one by one with a wait, back to back,
// in a captured graph, and the synchronisation with an empty stream.
#include "devices/launches.h"
#include "probes/probe.h"
#include "probes/state.h"

namespace bench {
namespace {

void measure_launch(State& state, Launches& launches, LaunchKind kind, bool wait_each) {
  const auto run = launches.prepare(kind, wait_each);
  Measurement m;
  m.params = {{"kind", kLaunchKinds.name(kind)}, {"wait", wait_each ? "each" : "last"}};
  if (kind == LaunchKind::graph) m.params["kernels"] = kLaunchesInGraph;
  m.work = [&](std::int64_t calls) { run->run(calls); };
  m.reports = {{"latency"}};
  m.verify = [&] { return run->verify(); };
  m.host_clock = true;
  state.measure(m);
}

void run_launch_latency(State& state) {
  Launches* launches = state.device().launches();
  if (launches == nullptr) return state.skip("host code has no launches");
  for (const auto& name : state.list<std::string>("kinds")) {
    const LaunchKind kind = kLaunchKinds.value(name, "kind of launch");
    measure_launch(state, *launches, kind, true);
    if (kind != LaunchKind::wait) measure_launch(state, *launches, kind, false);
  }
}

const Registration launch_latency_probe{"launch_latency", run_launch_latency};

}  // namespace
}  // namespace bench
