// Matrix products by the libraries people use, as a share of what the cores' instructions can do.
// docs/measuring.md says what is counted.
#include "probes/device/gemm.h"

#include <cmath>

#include "core/text.h"
#include "probes/probe.h"
#include "probes/procedures/gemm_check.h"
#include "probes/procedures/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

constexpr int kRepeats = 2;

Check product_of(GemmPlan& plan, const Matrices& matrices) {
  plan.load(matrices.a, matrices.b);
  plan.clear();
  plan.run(1);
  return check_product(matrices, plan.output(), plan.result());
}

/// Runs the loaded product again; counts results that differ in any bit.
Check repeatable(GemmPlan& plan, std::uint64_t hash) {
  double different = 0;
  for (int i = 0; i < kRepeats; ++i) {
    plan.clear();
    plan.run(1);
    if (hash_of(plan.result()) != hash) ++different;
  }
  return {"bitwise repeatability", different, 0.0};
}

/// The product that was timed, the same once more, and one of integers.
Check verify(GemmPlan& plan, const Matrices& timed, std::uint64_t seed) {
  const std::vector<std::byte> c = plan.result();
  const Check product = check_product(timed, plan.output(), c);
  if (!product.passed()) return product;
  const Check repeated = repeatable(plan, hash_of(c));
  if (!repeated.passed()) return repeated;
  if (is_integer(timed.dtype)) return product;
  const Check exact =
      product_of(plan, make_matrices(timed.shape, timed.dtype, MatrixValues::integers, seed));
  return exact.passed() ? product : exact;
}

struct Case {
  Dtype dtype;
  GemmShape shape;
  int threads;
};

Json params_of(const Case& c, const std::string& isa) {
  return {{"dtype", to_string(c.dtype)}, {"m", c.shape.m}, {"n", c.shape.n}, {"k", c.shape.k},
          {"threads", c.threads},        {"isa", isa}};
}

/// The peak of the instructions in this run, in operations a cycle of all threads.
std::optional<CycleLimit> ceiling(const State& state, const Json& params, int threads) {
  const auto per_core = state.known_limit("per_cycle", params);
  if (!per_core) return {};
  return CycleLimit{per_core->value * threads, per_core->kind,
                    per_core->source + ": " + format(per_core->value, Unit::count) +
                        " a cycle and core x " + std::to_string(threads)};
}

void measure_product(State& state, Gemm& gemm, const Case& c) {
  const std::string isa = state.text("isa");
  Json params = params_of(c, isa);
  const int candidates = static_cast<int>(state.integer("candidates"));
  const GemmOffer offer = gemm.prepare({.dtype = c.dtype,
                                        .shape = c.shape,
                                        .threads = c.threads,
                                        .library = state.text("library"),
                                        .isa = isa,
                                        .packed = state.flag("packed"),
                                        .fast_accumulation = state.flag("fast_accumulation"),
                                        .candidates = candidates});
  if (!offer.plan) return state.skip_series("throughput", params, offer.reason);
  GemmPlan& plan = *offer.plan;
  params["library"] = plan.library();
  params["packed"] = plan.packed();

  const std::uint64_t seed = state.job().seed;
  if (candidates > 1) {
    const Matrices trial = make_matrices(c.shape, c.dtype, MatrixValues::random, seed + 2);
    plan.load(trial.a, trial.b);
    plan.tune();
  }
  params["implementation"] = plan.implementation();
  const Matrices matrices = make_matrices(c.shape, c.dtype, MatrixValues::random, seed);
  plan.load(matrices.a, matrices.b);
  plan.clear();
  Report report{.metric = "throughput",
                .amount = c.shape.operations(),
                .cycle_limit = ceiling(state, params, c.threads)};
  if (is_integer(c.dtype)) report.unit = Unit::op_per_second;
  const Measured measured =
      state.measure({.params = params,
                     .work = [&](std::int64_t calls) { plan.run(calls); },
                     .reports = {report},
                     .verify = [&] { return verify(plan, matrices, seed + 1); },
                     .clock = [&] { return plan.clock(); },
                     .threads = c.threads});
  if (measured.cycles && measured.clean > 0)
    state.value("per_cycle", c.shape.operations() / (*measured.cycles * c.threads), params);
}

void run_gemm(State& state) {
  Gemm* gemm = state.device().gemm();
  if (gemm == nullptr) return state.skip("this device has no matrix library");
  for (const auto& name : state.list<std::string>("dtypes"))
    for (const auto& shape : state.list<std::vector<std::int64_t>>("shapes"))
      for (const int threads : thread_counts(state))
        measure_product(state, *gemm,
                        {dtype_from(name), {shape.at(0), shape.at(1), shape.at(2)}, threads});
}

const Registration registration{{
    .name = "gemm",
    .summary = "matrix products by oneDNN, OpenBLAS, BLIS and cuBLASLt, verified",
    .metrics = {{"throughput", Unit::flop_per_second, Better::higher},
                {"per_cycle", Unit::count, Better::higher}},
    .run = run_gemm,
}};

}  // namespace
}  // namespace bench
