// Collective operations over the group's ranks, swept over message sizes inside one job. Sizes and
// bus bandwidth are defined as nccl-tests defines them (its PERFORMANCE.md): `size_bytes` is the
// larger of a rank's send and receive buffer, algbw = size / time, busbw = algbw x the factor of
// the operation.
#include <cstdint>
#include <vector>

#include "probes/probe.h"
#include "probes/procedures/collective_exchange.h"
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
};

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
  m.params = {{"op", to_string(sweep.op)},
              {"dtype", to_string(sweep.dtype)},
              {"size_bytes", exchange.size_bytes()},
              {"in_place", sweep.in_place},
              {"timing", sweep.timing}};
  m.work = [&](std::int64_t calls) { exchange.run(calls); };
  m.reports = {{"latency"}, {"algbw", bytes}, {"busbw", bytes * exchange.bus_factor()}};
  m.verify = [&] { return Check{"exact sum of integers", exchange.wrong(), 0.0}; };
  if (sweep.in_place) m.before_sample = [&] { exchange.restore_next(); };
  m.timing = timing_from(sweep.timing);
  m.calls = 1;
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

/// Why this sweep is not measured; "" when it is.
std::string obstacle(const State& state, const Sweep& sweep, const Collectives& collectives,
                     int ranks) {
  const std::string refused(collectives.obstacle(sweep.op, sweep.dtype, sweep.in_place));
  if (!refused.empty()) return refused;
  if (sweep.in_place && state.text("timing") != "isolated")
    return "in place is measured in isolated timing only: calls back to back would sum their own "
           "results";
  if (!Exchange::exact(sweep.dtype, ranks))
    return "sums over " + std::to_string(ranks) + " ranks are not exact in " +
           std::string(to_string(sweep.dtype)) + ", so a wrong one could not be told";
  return "";
}

void measure_sweep(State& state, const Sweep& sweep, Collectives& collectives,
                   ExchangeBuffers buffers) {
  const std::string reason = obstacle(state, sweep, collectives, state.group().size());
  if (!reason.empty())
    return state.skip_series("latency",
                             {{"op", to_string(sweep.op)},
                              {"dtype", to_string(sweep.dtype)},
                              {"in_place", sweep.in_place},
                              {"timing", sweep.timing}},
                             reason);
  for (const std::size_t size : sizes(state))
    measure_size(state, sweep, collectives, buffers, size);
}

void run_collective(State& state) {
  if (state.group().size() < 2) return state.skip("needs at least two ranks");
  Collectives* collectives = state.device().collectives(state.group());
  if (collectives == nullptr) return state.skip("this build has no library for collectives");
  const auto offset = static_cast<std::size_t>(state.integer("offset_bytes"));
  const std::size_t bytes =
      Exchange::buffer_bytes(static_cast<std::size_t>(state.integer("max_bytes")), offset);
  const auto send = collectives->allocate(bytes);
  const auto recv = collectives->allocate(bytes);
  for (const std::string& op : state.list<std::string>("ops"))
    for (const std::string& dtype : state.list<std::string>("dtypes"))
      for (const std::string& placement : state.list<std::string>("placements"))
        measure_sweep(state,
                      {collective_op_from(op), dtype_from(dtype), placement == "in_place",
                       state.text("timing")},
                      *collectives, {*send, *recv, offset});
}

const Registration registration{{
    .name = "collective",
    .summary = "collective operations over all ranks, swept over message sizes",
    .metrics = {{"latency", Unit::second, Better::lower},
                {"algbw", Unit::byte_per_second, Better::higher},
                {"busbw", Unit::byte_per_second, Better::higher}},
    .run = run_collective,
}};

}  // namespace
}  // namespace bench
