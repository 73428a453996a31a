#include "probes/procedures/gemm_series.h"

#include "core/text.h"
#include "probes/procedures/gemm_check.h"
#include "probes/procedures/gemm_hash.h"

namespace bench {
namespace {

constexpr int kRepeats = 2;

Check product_of(GemmPlan& plan, const Matrices& matrices) {
  load(plan, matrices);
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

/// The product that was timed, the same once more and before, and one of integers. Leaves the
/// timed one's hash in `kept`.
Check verify(const State& state, GemmPlan& plan, const Matrices& timed, ProductHash& kept) {
  const std::vector<std::byte> c = plan.result();
  const std::uint64_t hash = hash_of(c);
  kept.hash = hash_text(hash);
  const Check product = check_product(timed, plan.output(), c);
  if (!product.passed()) return product;
  const Check repeated = repeatable(plan, hash);
  if (!repeated.passed()) return repeated;
  const Check golden = check_golden(state, kept);
  if (!golden.passed()) return golden;
  if (is_integer(timed.dtype) && timed.values != MatrixValues::zeros) return product;
  const Check exact = product_of(
      plan, make_matrices(timed.shape, timed.dtype, MatrixValues::integers, state.job().seed + 1));
  return exact.passed() ? product : exact;
}

MatrixValues values_of(const State& state) {
  return state.text("values") == "zeros" ? MatrixValues::zeros : MatrixValues::random;
}

/// What is out of the ordinary is said where it is so: zeros, a shape that was searched for.
Json params_of(const State& state, const GemmCase& c) {
  Json params = {
      {"dtype", to_string(c.dtype)}, {"m", c.shape.m},          {"n", c.shape.n}, {"k", c.shape.k},
      {"threads", c.threads},        {"isa", state.text("isa")}};
  if (values_of(state) == MatrixValues::zeros) params["values"] = "zeros";
  if (c.searched) params["searched"] = true;
  if (!state.flag("rotate")) params["rotate"] = false;
  return params;
}

/// The peak of the instructions in this run, in operations a cycle of all threads.
std::optional<CycleLimit> ceiling(const State& state, const Json& params, int threads) {
  const auto per_core = state.known_limit("per_cycle", params);
  if (!per_core) return {};
  return CycleLimit{per_core->value * threads, per_core->kind,
                    per_core->source + ": " + format(per_core->value, Unit::count) +
                        " per cycle and core x " + std::to_string(threads)};
}

/// Chooses among the candidates on data of its own.
void tune(GemmPlan& plan, const GemmCase& c, MatrixValues values, std::uint64_t seed) {
  const Matrices trial = make_matrices(c.shape, c.dtype, values, seed);
  load(plan, trial);
  plan.tune();
}

}  // namespace

GemmRequest gemm_request(const State& state, const GemmCase& c) {
  return {.dtype = c.dtype,
          .shape = c.shape,
          .threads = c.threads,
          .library = state.text("library"),
          .isa = state.text("isa"),
          .packed = state.flag("packed"),
          .fast_accumulation = state.flag("fast_accumulation"),
          .candidates = static_cast<int>(state.integer("candidates")),
          .rotate = state.flag("rotate")};
}

void measure_product(State& state, Gemm& gemm, const GemmCase& c) {
  Json params = params_of(state, c);
  const GemmRequest request = gemm_request(state, c);
  const GemmOffer offer = gemm.prepare(request);
  if (accumulates_fast(request)) params["fast_accumulation"] = true;
  if (const auto reason = agreed(state.group(), offer.plan ? "" : offer.reason); !reason.empty())
    return state.skip_series("throughput", params, reason);
  GemmPlan& plan = *offer.plan;
  params["library"] = plan.library();
  params["packed"] = plan.packed();

  const std::uint64_t seed = state.job().seed;
  if (request.candidates > 1) tune(plan, c, values_of(state), seed + 2);
  params["implementation"] = plan.implementation();
  const Matrices matrices = make_matrices(c.shape, c.dtype, values_of(state), seed);
  load(plan, matrices);
  plan.clear();
  Report report{.metric = "throughput",
                .amount = c.shape.operations(),
                .cycle_limit = ceiling(state, params, c.threads)};
  if (is_integer(c.dtype)) report.unit = Unit::op_per_second;
  ProductHash product{product_key(gemm, plan, request, seed), ""};
  if (matrices.values == MatrixValues::zeros) product.key["values"] = "zeros";
  const Measured measured =
      state.measure({.params = params,
                     .work = [&](std::int64_t calls) { plan.run(calls); },
                     .reports = {report},
                     .verify = [&] { return verify(state, plan, matrices, product); },
                     .clock = [&] { return plan.clock(); },
                     .core_share = [&] { return plan.core_share(); },
                     .threads = c.threads});
  tell_hashes(state, product);
  if (measured.cycles && measured.clean > 0)
    state.value("per_cycle", c.shape.operations() / (*measured.cycles * c.threads), params);
}

}  // namespace bench
