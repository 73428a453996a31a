// The clock the cores run scalar code at, alone and all at once: the length of a chain of dependent
// instructions in cycles, divided by the time it takes. A second chain of another instruction must
// agree, because cores learn to shorten chains.
#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "probes/device/instructions.h"
#include "probes/probe.h"
#include "probes/procedures/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

constexpr double kAgreement = 0.02;  // relative
constexpr int kPairs = 41;

/// Hz from one call of a prepared chain.
double frequency(Device& device, InstructionRun& run) {
  const Seconds begin = device.now();
  run.run(1);
  return run.per_call() / (device.now() - begin).value;
}

/// Both chains in turn, some ten microseconds each, so that a clock that moves moves under both;
/// the median over pairs, so that a disturbed walk does not matter.
Check compare_chains(Device& device, InstructionRun& chain, InstructionRun& other) {
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; ++i) {
    const double first = frequency(device, chain);
    ratios.push_back(first / frequency(device, other));
  }
  return {"two chains agree on the clock", std::abs(median(ratios) - 1.0), kAgreement};
}

/// The timed chain was walked to its end, and on one core the chains agree.
Check verify(Device& device, Instructions& instructions, InstructionRun& timed) {
  const Check walked = timed.verify();
  if (!walked.passed()) return walked;
  const auto chain = instructions.prepare_chain(0, 1);
  const auto other = instructions.prepare_chain(1, 1);
  const Check agreed = compare_chains(device, *chain, *other);
  const Check other_walked = other->verify();
  return other_walked.passed() ? agreed : other_walked;
}

void run_clock(State& state) {
  Instructions* instructions = state.device().instructions();
  if (instructions == nullptr || instructions->chains().size() < 2)
    return state.skip("no chain of known length for this architecture");
  std::optional<Limit> limit;
  if (const auto highest = instructions->highest_clock())
    limit = Limit{highest->value, LimitKind::datasheet, "cpufreq's cpuinfo_max_freq"};
  for (const int threads : thread_counts(state)) {
    const auto chain = instructions->prepare_chain(0, threads);
    state.measure(
        {.params = {{"threads", threads}},
         .work = [&](std::int64_t calls) { chain->run(calls); },
         .reports = {{.metric = "frequency", .amount = chain->per_call(), .limit = limit}},
         .verify = [&] { return verify(state.device(), *instructions, *chain); },
         .threads = threads});
  }
}

const Registration registration{{
    .name = "clock",
    .summary = "core clock by chains of dependent instructions",
    .metrics = {{"frequency", Unit::hertz, Better::higher}},
    .run = run_clock,
}};

}  // namespace
}  // namespace bench
