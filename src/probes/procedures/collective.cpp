// Collective operations over the group's ranks, swept over message sizes inside one job. Sizes and
// bus bandwidth are defined as nccl-tests defines them (its PERFORMANCE.md): `size_bytes` is the
// larger of a rank's send and receive buffer, algbw = size / time, busbw = algbw x the factor of
// the operation.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "probes/probe.h"
#include "probes/shared/collective_exchange.h"
#include "probes/shared/collective_join.h"
#include "probes/state.h"

namespace bench {
namespace {

Timing timing_from(const std::string& name) {
  if (name == "pipelined") return Timing::pipelined;
  if (name == "osu") return Timing::osu;
  return Timing::isolated;
}

struct Sweep {
  CollectiveOp op;
  Dtype dtype;
  bool in_place;
  std::string timing;
  std::int64_t graph_calls = 0;  // 0: no graph
};

Json params_of(const Sweep& sweep) {
  Json params = {{"op", to_string(sweep.op)},
                 {"dtype", to_string(sweep.dtype)},
                 {"in_place", sweep.in_place},
                 {"timing", sweep.timing}};
  if (sweep.graph_calls > 0) params["graph_calls"] = sweep.graph_calls;
  return params;
}

Json chosen_by(Collectives& collectives) {
  const auto choice = collectives.chosen();
  if (!choice) return nullptr;
  return {{"algorithm", choice->algorithm},
          {"protocol", choice->protocol.empty() ? Json(nullptr) : Json(choice->protocol)},
          {"channels", choice->channels ? Json(*choice->channels) : Json(nullptr)}};
}

void measure_size(State& state, const Sweep& sweep, Collectives& collectives,
                  ExchangeBuffers buffers, std::size_t size_bytes) {
  Exchange exchange({.op = sweep.op,
                     .dtype = sweep.dtype,
                     .size_bytes = size_bytes,
                     .in_place = sweep.in_place,
                     .rotate = state.flag("rotate") && sweep.timing == "isolated",
                     .seed = state.job().seed},
                    state.group(), collectives, buffers);
  if (exchange.empty()) return;
  const auto bytes = static_cast<double>(exchange.size_bytes());
  Measurement m;
  m.params = params_of(sweep);
  m.params["size_bytes"] = exchange.size_bytes();
  m.work = [&](std::int64_t calls) { exchange.run(calls); };
  m.reports = {{"latency"}};
  if (state.group().size() > 1) {
    m.reports.push_back({"algbw", bytes});
    m.reports.push_back({"busbw", bytes * exchange.bus_factor()});
  }
  m.verify = [&] { return Check{"exact sum of integers", exchange.wrong(), 0.0}; };
  if (sweep.in_place) m.before_sample = [&] { exchange.restore_next(); };
  m.timing = timing_from(sweep.timing);
  m.keep_ranks = true;
  m.chosen = [&] { return chosen_by(collectives); };
  m.calls = std::max<std::int64_t>(sweep.graph_calls, 1);
  if (sweep.graph_calls > 0) {
    state.device().untimed([&] { exchange.run(1); });  // connects before the recording
    exchange.record(sweep.graph_calls);
  }
  state.measure(m);
}

std::vector<std::size_t> sizes(const State& state) {
  const auto first = static_cast<std::size_t>(state.integer("min_bytes"));
  const auto last = static_cast<std::size_t>(state.integer("max_bytes"));
  const auto factor = static_cast<std::size_t>(state.integer("factor"));
  std::vector<std::size_t> all;
  for (std::size_t size = first; size <= last; size *= factor) all.push_back(size);
  return all;
}

/// Why this sweep cannot be measured; "" if it can.
std::string obstacle(const Sweep& sweep, const Collectives& collectives, int ranks) {
  if (ranks == 1 && sweep.op == CollectiveOp::broadcast)
    return "a broadcast to nobody changes no memory that could be verified";
  const std::string refused(collectives.obstacle(sweep.op, sweep.dtype, sweep.in_place));
  if (!refused.empty()) return refused;
  if (sweep.in_place && (sweep.timing != "isolated" || sweep.graph_calls > 1))
    return "in-place operations need isolated timing: back-to-back calls would sum their own "
           "results";
  if (sweep.graph_calls > 0 && sweep.timing != "isolated")
    return "graphs need isolated timing; the other modes time single calls";
  if (sweep.graph_calls > 0 && !collectives.records())
    return "this library's operations run on the host and cannot be captured in a graph";
  if (!Exchange::exact(sweep.dtype, ranks))
    return "sums over " + std::to_string(ranks) + " ranks are not exact in " +
           std::string(to_string(sweep.dtype)) + ", so errors could not be detected";
  return "";
}

void measure_sweep(State& state, const Sweep& sweep, Collectives& collectives,
                   ExchangeBuffers buffers) {
  const std::string reason = obstacle(sweep, collectives, state.group().size());
  if (!reason.empty()) return state.skip_series("latency", params_of(sweep), reason);
  for (const std::size_t size : sizes(state))
    measure_size(state, sweep, collectives, buffers, size);
}

void measure_all(State& state, Collectives& collectives) {
  const auto offset = static_cast<std::size_t>(state.integer("offset_bytes"));
  const auto max_bytes = static_cast<std::size_t>(state.integer("max_bytes"));
  const std::size_t bytes = Exchange::buffer_bytes(collectives, max_bytes, offset);
  const auto send = collectives.allocate(bytes);
  const auto recv = collectives.allocate(bytes);
  // Outermost: once NCCL has been recorded, each later operation of the communicator costs more.
  for (const std::int64_t graph_calls : state.list<std::int64_t>("graph_calls"))
    for (const std::string& op : state.list<std::string>("ops"))
      for (const std::string& dtype : state.list<std::string>("dtypes"))
        for (const std::string& placement : state.list<std::string>("placements"))
          measure_sweep(state,
                        {collective_op_from(op), dtype_from(dtype), placement == "in_place",
                         state.text("timing"), graph_calls},
                        collectives, {*send, *recv, offset});
}

void run_collective(State& state) {
  if (state.group().size() < 2 && !state.flag("alone"))
    return state.skip("needs at least two ranks");
  Collectives* collectives = state.device().collectives(state.group());
  if (collectives == nullptr) return state.skip(no_collectives(state.group()));
  const PathRequest paths = path_request(state);
  if (!join_ranks(state, *collectives, paths)) return;
  measure_all(state, *collectives);
  report_paths(state, *collectives, paths);
}

const Registration collective_probe{"collective", run_collective};

}  // namespace
}  // namespace bench
