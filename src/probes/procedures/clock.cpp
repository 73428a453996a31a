// The clock of scalar code, on one core and on all cores: the length of a chain of dependent
// instructions in cycles, divided by its time. A second chain of another instruction must agree,
// because new cores may shorten some chains.
#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/instructions.h"
#include "probes/probe.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

constexpr double kAgreement = 0.02;  // relative
constexpr int kPairs = 41;
constexpr int kTries = 100;
constexpr Seconds kPatience{0.5};

/// Hz from one call of a prepared chain.
double frequency(Device& device, InstructionRun& run) {
  const Seconds begin = device.now();
  run.run(1);
  return run.per_call() / (device.now() - begin).value;
}

/// The relative difference of the chains. Both in turn, some ten microseconds each, so that a
/// changing clock affects both; the median over pairs, so that single disturbances do not matter.
double disagreement(Device& device, InstructionRun& chain, InstructionRun& other) {
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; ++i) {
    const double first = frequency(device, chain);
    ratios.push_back(first / frequency(device, other));
  }
  return std::abs(median(ratios) - 1.0);
}

/// The smallest difference of several attempts on one core. Whether the lengths are right depends
/// on the core type alone, so one undisturbed attempt is enough; a busy neighbour disturbs many.
double least_disagreement(Device& device, InstructionRun& chain, InstructionRun& other) {
  double least = disagreement(device, chain, other);
  const Seconds begin = device.now();
  for (int i = 1; i < kTries && least > kAgreement; ++i) {
    if ((device.now() - begin).value > kPatience.value) break;
    least = std::min(least, disagreement(device, chain, other));
  }
  return least;
}

/// Why the chains do not measure the clock here; "" if they do. This is no fault of the core: the
/// clock is unknown, and no result is invalid.
std::string doubt(Device& device, Instructions& instructions) {
  const auto chain = instructions.prepare_chain(0, 1);
  const auto other = instructions.prepare_chain(1, 1);
  const double least = least_disagreement(device, *chain, *other);
  if (least <= kAgreement) return "";
  return "the two chains disagree by " + format(least, Unit::ratio) +
         " in every attempt, allowed: " + format(kAgreement, Unit::ratio) +
         ": the core is shared or does not run one of them as written; clock unknown";
}

void run_clock(State& state) {
  Instructions* instructions = state.device().instructions();
  if (instructions == nullptr || instructions->chains().size() < 2)
    return state.skip("no chain of known latency for this architecture");
  std::optional<Limit> limit;
  if (const auto highest = instructions->highest_clock())
    limit = Limit{highest->value, LimitKind::datasheet, "cpufreq's cpuinfo_max_freq"};
  const std::string reason = agreed(state.group(), doubt(state.device(), *instructions));
  if (!reason.empty()) return state.prevent(reason);
  for (const int threads : thread_counts(state)) {
    const auto chain = instructions->prepare_chain(0, threads);
    state.measure(
        {.params = {{"threads", threads}},
         .work = [&](std::int64_t calls) { chain->run(calls); },
         .reports = {{.metric = "frequency", .amount = chain->per_call(), .limit = limit}},
         .verify = [&] { return chain->verify(); },
         .threads = threads});
  }
}

const Registration clock_probe{"clock", run_clock};

}  // namespace
}  // namespace bench
