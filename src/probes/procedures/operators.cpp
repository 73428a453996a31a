// Single operators of models, forward and backward, next to the ceilings that this run measured:
// the lower of the GEMM peak and operations per byte x the bandwidth of the cache that holds the
// operator's tensors (Williams, Waterman and Patterson 2009).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/text.h"
#include "devices/memory.h"
#include "probes/operators/operator_run.h"
#include "probes/probe.h"
#include "probes/shared/memory_sizes.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"
#include "training/parallel/training_kernels.h"

namespace bench {
namespace {

constexpr NameTable<OperatorPass, 2> kOperatorPasses{
    {{{OperatorPass::forward, "forward"}, {OperatorPass::backward, "backward"}}}};

OperatorSizes sizes_of(const State& state) {
  return {.tokens = state.integer("tokens"),
          .sequence = 0,
          .channels = 0,
          .head_dim = state.integer("head_dim"),
          .hidden = 0,
          .vocabulary = state.integer("vocabulary"),
          .images = state.integer("images"),
          .side = state.integer("side"),
          .maps = state.integer("maps"),
          .table_rows = state.integer("table_rows"),
          .lookups = state.integer("lookups")};
}

/// The least time that the ceilings of this run allow: none without that of the memory level.
std::optional<Limit> least_time(const State& state, const Json& params, double flops,
                                double bytes) {
  const auto peak = state.known_limit("throughput", params);
  const auto bandwidth = state.known_limit("traffic", params);
  const double by_compute = peak && flops > 0.0 ? flops / peak->value : 0.0;
  if (!bandwidth) return {};
  const double by_memory = bytes / bandwidth->value;
  return by_compute > by_memory ? Limit{by_compute, peak->kind, peak->source}
                                : Limit{by_memory, bandwidth->kind, bandwidth->source};
}

class OperatorSweep {
 public:
  OperatorSweep(State& state, TrainingKernels& kernels)
      : state_(state), kernels_(kernels), threads_(thread_counts(state)) {
    if (MemorySystem* memory = state.device().memory()) caches_ = memory->caches();
  }

  void measure(const OperatorCase& which, const OperatorSizes& sizes, Dtype dtype) {
    Json params = {{"operator", which.name}, {"dtype", to_string(dtype)}};
    if (const std::string why = why_not(which, dtype); !why.empty()) return skip(params, why);
    const OperatorModel model(which, sizes, dtype);
    if (!model.why_not().empty()) {
      params.update(
          {{"tokens", sizes.tokens}, {"sequence", sizes.sequence}, {"channels", sizes.channels}});
      return skip(params, model.why_not());
    }
    params.update(model.shape());
    if (const std::string why = too_large(model); !why.empty()) return skip(params, why);
    if (!seen_.insert(params.dump()).second) return;  // does not depend on the size that differs
    const OperatorModel wide(which, sizes, Dtype::f64);
    for (const std::string& name : state_.list<std::string>("passes")) {
      const OperatorPass pass = kOperatorPasses.value(name, "pass");
      if (!model.has(pass)) continue;
      params["pass"] = name;
      measure_pass(model, wide, pass, params);
    }
  }

 private:
  std::string why_not(const OperatorCase& which, Dtype dtype) const {
    if (which.on_hosts_only && state_.device().kind() != "host")
      return "this operator has code for hosts only";
    if (which.wide_only && training::is_narrow(dtype))
      return "no kernels of this operator in " + std::string(to_string(dtype));
    if (dtype == Dtype::f64 && state_.device().kind() != "host")
      return "kernels of GPUs do not compute in f64";
    return "";
  }

  /// Lanes with copies of their inputs in f64 while these are written, the reference in f64, and
  /// the results that are compared. On a GPU's host as on the GPU.
  std::string too_large(const OperatorModel& model) const {
    MemorySystem* memory = state_.device().memory();
    if (memory == nullptr) return "";
    double bytes = 0.0;
    for (const std::int64_t arena : model.plan().arena_bytes) bytes += static_cast<double>(arena);
    const double need = bytes * (8.0 + 4.0 * *std::ranges::max_element(threads_));
    const double budget = memory_budget(state_, *memory);
    if (need <= budget) return "";
    return fmt::format("needs {} of memory, may use {}", format(Bytes{need}),
                       format(Bytes{budget}));
  }

  void skip(const Json& params, const std::string& why) {
    if (seen_.insert(params.dump()).second) state_.skip_series("time", params, why);
  }

  void measure_pass(const OperatorModel& model, const OperatorModel& wide, OperatorPass pass,
                    Json params) {
    const auto make = [&](Dtype dtype) { return kernels_.make(dtype); };
    const auto make_wide = [&](Dtype dtype) { return kernels_.make_on_host(dtype); };
    const OperatorCost cost = model.cost(pass);
    std::optional<OperatorResults> reference;
    state_.value("memory", cost.memory, params);
    for (const int threads : threads_) {
      OperatorRun run(model, make, threads, state_.job().seed);
      if (!reference) reference = run.reference(wide, make_wide, pass);
      run.prepare(pass);
      const double all = static_cast<double>(threads);
      params["threads"] = threads;
      params["level"] = memory_level(caches_, cost.working_set(threads), threads);
      Measurement m;
      m.params = params;
      m.work = [&](std::int64_t calls) { run.run(calls); };
      m.reports = {{"time", {}, least_time(state_, params, all * cost.flops, all * cost.bytes)}};
      if (cost.flops > 0.0) m.reports.push_back({"throughput", all * cost.flops});
      m.reports.push_back({"traffic", all * cost.bytes});
      m.verify = [&] { return run.check(*reference); };
      m.threads = threads;
      m.host_clock = state_.device().kind() != "host";
      state_.measure(m);
    }
  }

  State& state_;
  TrainingKernels& kernels_;
  std::vector<int> threads_;
  std::vector<CacheLevel> caches_ = {};
  std::set<std::string> seen_ = {};
};

void run_operators(State& state) {
  TrainingKernels* kernels = state.device().training_kernels();
  if (kernels == nullptr) return state.skip("this device has no training kernels");
  kernels->begin(false);
  OperatorSweep sweep(state, *kernels);
  OperatorSizes sizes = sizes_of(state);
  for (const auto& name : state.list<std::string>("operators"))
    for (const auto& dtype : state.list<std::string>("dtypes"))
      for (const auto channels : state.list<std::int64_t>("channels"))
        for (const auto sequence : state.list<std::int64_t>("sequences")) {
          sizes.channels = channels;
          sizes.hidden = state.integer("widening") * channels;
          sizes.sequence = sequence;
          sweep.measure(operator_case(name), sizes, dtype_from(dtype));
        }
}

const Registration operators_probe{"operators", run_operators};

}  // namespace
}  // namespace bench
