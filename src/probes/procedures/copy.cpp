// Copies between host and device and between devices. `bandwidth` counts the bytes of a copy once,
// and for copies in both directions at once the sum; a copy inside a device reads and writes each
// byte, so its memory traffic is twice that.
#include "devices/copies.h"
#include "probes/probe.h"
#include "probes/state.h"

namespace bench {
namespace {

Json params_of(const CopyRequest& request) {
  Json params = {{"route", kCopyRoutes.name(request.route)}, {"size_bytes", request.bytes}};
  if (uses_host(request.route)) {
    params["memory"] = kHostMemories.name(request.memory);
    if (request.numa_node) params["numa_node"] = *request.numa_node;
  }
  if (uses_peer(request.route)) params["peer"] = request.peer;
  if (!request.rotate) params["rotate"] = false;
  return params;
}

void measure_copy(State& state, Copies& copies, const CopyRequest& request) {
  const Json params = params_of(request);
  const CopyOffer offer = copies.prepare(request);
  if (!offer.run) return state.skip_series("bandwidth", params, offer.reason);
  const double ways = request.route == CopyRoute::both ? 2.0 : 1.0;
  Measurement m;
  m.params = params;
  m.work = [&](std::int64_t calls) { offer.run->run(calls); };
  m.reports = {{"bandwidth", ways * static_cast<double>(request.bytes)}, {"time"}};
  m.verify = [&] { return offer.run->verify(); };
  // The host takes part in copies of pageable memory, and waits for the device.
  m.host_clock = uses_host(request.route) && request.memory == HostMemory::pageable;
  state.measure(m);
}

void measure_host_route(State& state, Copies& copies, CopyRequest request) {
  for (const auto& memory : state.list<std::string>("memory")) {
    request.memory = kHostMemories.value(memory, "kind of host memory");
    if (state.text("numa") == "near") {
      measure_copy(state, copies, request);
      continue;
    }
    for (const int node : copies.numa_nodes()) {
      request.numa_node = node;
      measure_copy(state, copies, request);
    }
  }
}

void measure_peer_route(State& state, Copies& copies, CopyRequest request) {
  const std::vector<int> peers = copies.peers();
  if (peers.empty())
    return state.skip_series("bandwidth", params_of(request), "this host has no other device");
  for (const int peer : peers) {
    request.peer = peer;
    measure_copy(state, copies, request);
  }
}

void run_copy(State& state) {
  Copies* copies = state.device().copies();
  if (copies == nullptr) return state.skip("the device shares host memory: nothing to copy");
  for (const auto& route : state.list<std::string>("routes"))
    for (const std::int64_t bytes : state.list<std::int64_t>("sizes")) {
      CopyRequest request;
      request.route = kCopyRoutes.value(route, "route");
      request.bytes = static_cast<std::size_t>(bytes);
      request.rotate = state.flag("rotate");
      if (uses_host(request.route))
        measure_host_route(state, *copies, request);
      else if (uses_peer(request.route))
        measure_peer_route(state, *copies, request);
      else
        measure_copy(state, *copies, request);
    }
}

const Registration copy_probe{"copy", run_copy};

}  // namespace
}  // namespace bench
