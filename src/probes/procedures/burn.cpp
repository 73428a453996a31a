// Loads a device for a number of rounds, GEMMs and memory streams in turn, and checks that results
// and speed stay the same. GEMMs are compared bit for bit with the first one: all of them where the
// device can, else the last of each sample. Memory is verified after each round. Intermittent
// faults that depend on heat or voltage show here and not in short probes.
#include <map>
#include <vector>

#include "probes/probe.h"
#include "probes/shared/device_load.h"
#include "probes/state.h"

namespace bench {
namespace {

/// The loads that this device supports; the others are skipped with the reason.
std::vector<DeviceLoad> possible_loads(State& state) {
  std::vector<DeviceLoad> loads;
  for (const auto& name : state.list<std::string>("loads")) {
    LoadOffer offer = named_load(state, name);
    if (offer.load)
      loads.push_back(std::move(*offer.load));
    else
      state.skip_series(name + "_rate", Json::object(), offer.reason);
  }
  return loads;
}

struct Round {
  double rate = 0.0;
  Conditions conditions = {};
};

/// One round; nothing if its result was wrong.
std::optional<Round> burn_round(State& state, const DeviceLoad& load, std::int64_t round) {
  Measurement m;
  m.params = {{"round", round}};
  m.reports = {{load.metric, load.amount}};
  std::optional<Check> failed;
  bool worked = false;
  m.work = [&](std::int64_t calls) {
    load.work(calls);
    worked = true;
  };
  if (load.quick_check)
    m.before_sample = [&] {
      if (const Check check = worked ? load.quick_check() : Check{}; worked && !check.passed())
        failed = check;
    };
  m.verify = [&] { return failed ? *failed : load.verify(); };
  m.clock = load.clock;
  const Measured measured = state.measure(m);
  if (measured.outcome != Status::ok || !(measured.median.value > 0.0)) return {};
  return Round{load.amount / measured.median.value, measured.conditions};
}

void run_burn(State& state) {
  const std::vector<DeviceLoad> loads = possible_loads(state);
  const std::int64_t rounds = state.integer("rounds");
  std::map<std::string, std::pair<Round, Round>> first_and_last;
  for (std::int64_t round = 1; round <= rounds; ++round)
    for (const DeviceLoad& load : loads) {
      const auto done = burn_round(state, load, round);
      if (!done) return;  // one wrong result decides
      auto& [first, last] =
          first_and_last.try_emplace(load.metric, std::pair(*done, *done)).first->second;
      last = *done;
    }
  for (const auto& [metric, both] : first_and_last) {
    const auto& [first, last] = both;
    state.under(all_of({first.conditions, last.conditions}))
        .value("sustained_ratio", last.rate / first.rate, {{"of", metric}, {"rounds", rounds}});
  }
}

const Registration burn_probe{"burn", run_burn};

}  // namespace
}  // namespace bench
