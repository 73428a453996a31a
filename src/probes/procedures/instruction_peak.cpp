// The peak rate of multiply-add instructions: the ceiling of gemm. A result is valid only if the
// sums left in the registers are right (the loop ran), the rate is possible for this kind of core
// (nothing was counted twice), and the number of instructions per cycle is a whole number or a
// simple fraction (nothing was spilled to memory).
#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "devices/instructions.h"
#include "probes/probe.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

Limit at_most(const InstructionStream& stream) {
  return {stream.most_per_cycle * stream.ops, LimitKind::proven,
          stream.instruction + ": at most " + format(stream.most_per_cycle, Unit::count) +
              " per cycle x " + format(stream.ops, Unit::count) + " operations"};
}

constexpr double kTolerance = 0.025;  // of a whole number of instructions per cycle

/// Nothing where the issue rate of this CPU model is not known, or a hypervisor named the model and
/// no measured `rate`, in operations per cycle, bears it out.
std::optional<Limit> proof(const InstructionStream& stream, std::optional<double> rate) {
  if (!stream.bound_is_known) return {};
  const Limit limit = at_most(stream);
  const bool bears_out = rate && *rate <= limit.value * (1.0 + kTolerance);
  if (stream.model_is_assigned && !bears_out) return {};
  return limit;
}

std::string why_measured(const InstructionStream& stream) {
  if (!stream.bound_is_known) return "the issue rate of this CPU model is not known";
  return "the hypervisor names a CPU model that issues at most " +
         format(stream.most_per_cycle, Unit::count);
}

/// The bound of one core; the measured rate where the issue rate of this CPU model is not known.
std::optional<CycleLimit> cycle_limit(const InstructionStream& stream, std::optional<double> rate) {
  if (const auto known = proof(stream, rate))
    return CycleLimit{known->value, known->kind, known->source};
  if (!rate) return {};
  return CycleLimit{*rate, LimitKind::measured,
                    stream.instruction + ": " + format(*rate / stream.ops, Unit::count) +
                        " per cycle measured (" + why_measured(stream) + ") x " +
                        format(stream.ops, Unit::count) + " operations"};
}

Json stream_params(const InstructionStream& stream) {
  return {{"dtype", to_string(stream.dtype)}, {"isa", stream.isa}};
}

/// Whether a core can have this rate. A loop that waits for memory or shares its core is between
/// two possible rates. Error: relative distance from the nearest one.
Check rate_check(double instructions_per_cycle) {
  constexpr std::array kRates{1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0, 2.0, 3.0, 4.0};
  const auto distance = [&](double rate) { return std::abs(instructions_per_cycle / rate - 1); };
  return {"whole number of instructions per cycle",
          distance(std::ranges::min(kRates, {}, distance)), kTolerance};
}

/// Why the rate of a stream is unknown. Two times are compared, so a neighbour that slows either
/// can cause any value: that is no wrong result of this host.
std::string no_such_rate(double instructions_per_cycle, int tries) {
  return format(instructions_per_cycle, Unit::count) + " instructions per cycle in the last of " +
         std::to_string(tries) +
         " attempts, above any core's rate: the core is shared, or the loop spills its "
         "registers; ceiling unknown";
}

/// Operations per cycle and core; nothing if the rate is impossible. A busy machine disturbs single
/// attempts; a loop that spills fails all of them.
std::optional<double> measure_rate(State& state, Instructions& instructions, std::size_t index) {
  constexpr int kAttempts = 20;
  const InstructionStream& stream = instructions.streams()[index];
  std::optional<double> rate;
  Check check;
  for (int i = 0; i < kAttempts && (i == 0 || !check.passed()); ++i) {
    rate = instructions.operations_per_cycle(index);
    if (!rate) {
      state.skip_series("per_cycle", stream_params(stream), "no clock chain for this architecture");
      return {};
    }
    check = rate_check(*rate / stream.ops);
  }
  if (!check.passed()) {
    state.skip_series("per_cycle", stream_params(stream),
                      no_such_rate(*rate / stream.ops, kAttempts));
    return {};
  }
  state.value("per_cycle", *rate, stream_params(stream), proof(stream, rate), check);
  return rate;
}

void measure_throughput(State& state, Instructions& instructions, std::size_t index, int threads,
                        std::optional<double> rate) {
  const InstructionStream& stream = instructions.streams()[index];
  const auto run = instructions.prepare_stream(index, threads);
  Json params = stream_params(stream);
  params["threads"] = threads;
  Report report{.metric = "throughput",
                .amount = run->per_call() * threads,
                .cycle_limit = cycle_limit(stream, rate)};
  if (report.cycle_limit) report.cycle_limit->per_cycle *= threads;
  if (is_integer(stream.dtype)) report.unit = Unit::op_per_second;
  state.measure({.params = params,
                 .work = [&](std::int64_t calls) { run->run(calls); },
                 .reports = {report},
                 .verify = [&] { return run->verify(); },
                 .clock = [&] { return run->clock(); },
                 .core_share = [&] { return run->core_share(); },
                 .threads = threads});
}

std::vector<std::size_t> wanted_streams(const State& state, const Instructions& instructions,
                                        Dtype dtype) {
  const auto isas = state.list<std::string>("isas");
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < instructions.streams().size(); ++i) {
    const InstructionStream& stream = instructions.streams()[i];
    if (stream.dtype != dtype) continue;
    if (isas.empty() || std::ranges::find(isas, stream.isa) != isas.end()) wanted.push_back(i);
  }
  return wanted;
}

void measure_dtype(State& state, Instructions& instructions, Dtype dtype) {
  const std::vector<std::size_t> wanted = wanted_streams(state, instructions, dtype);
  if (wanted.empty())
    return state.skip_series(
        "throughput", {{"dtype", to_string(dtype)}},
        "this CPU has no known multiply-add for " + std::string(to_string(dtype)));
  double best = 0.0;
  double unknown = 0.0;  // the bound of the widest stream whose rate is unknown
  for (const std::size_t index : wanted) {
    const auto rate = measure_rate(state, instructions, index);
    if (rate)
      best = std::max(best, *rate);
    else
      unknown = std::max(unknown, at_most(instructions.streams()[index]).value);
    for (const int threads : thread_counts(state))
      measure_throughput(state, instructions, index, threads, rate);
  }
  const Json params = {{"dtype", to_string(dtype)}, {"isa", "best"}};
  if (unknown > best)
    state.skip_series("per_cycle", params, "the rate of the widest instructions is unknown");
  else if (best > 0.0)
    state.value("per_cycle", best, params);
}

void run_instruction_peak(State& state) {
  Instructions* instructions = state.device().instructions();
  if (instructions == nullptr) return state.skip("no instruction streams on this device");
  for (const auto& dtype : state.list<std::string>("dtypes"))
    measure_dtype(state, *instructions, dtype_from(dtype));
}

const Registration instruction_peak_probe{"instruction_peak", run_instruction_peak};

}  // namespace
}  // namespace bench
