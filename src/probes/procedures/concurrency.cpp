// The speed of each device alone while the other ranks wait, then with all ranks at work; and how
// much communication is hidden behind computation. Devices share power, cooling, host memory and
// PCIe switches; a slot that loses more than others shows here.
#include <algorithm>

#include "probes/probe.h"
#include "probes/shared/collective_join.h"
#include "probes/shared/communication_overlap.h"
#include "probes/shared/device_load.h"
#include "probes/state.h"

namespace bench {
namespace {

/// Every rank calls it; inactive ranks do nothing, and the time is that of the slowest rank.
Measured measure_share(State& state, const DeviceLoad& load, int active) {
  const bool all = active < 0;
  const bool works = all || active == state.group().rank();
  Measurement m;
  m.params = all ? Json{{"active", "all"}} : Json{{"active", "one"}, {"active_rank", active}};
  m.work = [&load, works](std::int64_t calls) {
    if (works) load.work(calls);
  };
  m.reports = {{load.metric, load.amount}};
  m.verify = [&load, works] { return works ? load.verify() : Check{"another rank's", 0.0, 0.0}; };
  m.clock = load.clock;
  return state.measure(m);
}

void measure_load(State& state, const std::string& name) {
  const LoadOffer offer = named_load(state, name);
  if (const auto reason = agreed(state.group(), offer.load ? "" : offer.reason); !reason.empty())
    return state.skip_series(name + "_rate", Json::object(), reason);
  double slowest_alone = 0.0;
  bool right = true;
  Conditions conditions;
  for (int rank = 0; rank < state.group().size(); ++rank) {
    const Measured alone = measure_share(state, *offer.load, rank);
    slowest_alone = std::max(slowest_alone, alone.median.value);
    right = right && alone.outcome == Status::ok;
    conditions = all_of({conditions, alone.conditions});
  }
  const Measured together = measure_share(state, *offer.load, -1);
  conditions = all_of({conditions, together.conditions});
  if (right && together.outcome == Status::ok && together.median.value > 0.0)
    state.under(conditions)
        .value("sustained_ratio", slowest_alone / together.median.value,
               {{"of", offer.load->metric}});
}

void run_concurrency(State& state) {
  if (state.group().size() < 2) return state.skip("needs at least two ranks");
  for (const auto& name : state.list<std::string>("loads")) {
    if (name == "communication")
      measure_overlap(state);
    else
      measure_load(state, name);
  }
}

const Registration concurrency_probe{"concurrency", run_concurrency};

}  // namespace
}  // namespace bench
