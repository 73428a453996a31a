#include "probes/shared/gemm_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/block_scaled.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/memory.h"
#include "probes/shared/gemm_check.h"
#include "probes/shared/shape_search.h"

namespace bench {
namespace {

/// All that decides the bits of a product of random matrices of this seed.
Json product_key(const Gemm& gemm, const GemmPlan& plan, const GemmRequest& request,
                 std::uint64_t seed) {
  const GemmShape& shape = request.shape;
  Json key = {{"chip", gemm.chip()},
              {"library", plan.library()},
              {"version", plan.version()},
              {"implementation", plan.implementation()},
              {"dtype", to_string(request.dtype)},
              {"m", shape.m},
              {"n", shape.n},
              {"k", shape.k},
              {"threads", request.threads},
              {"packed", plan.packed()},
              {"seed", seed}};
  if (accumulates_fast(request)) key["fast_accumulation"] = true;
  return key;
}

/// The bits of a product as a hash: kept with the run, compared between equal devices
/// (results/run/result_hashes.h) and with the golden value in the job, if it has one.
struct ProductHash {
  Json key;
  std::string hash = {};  // 16 hexadecimal digits; empty for a product that was not verified
};

/// Error: 1 for another hash than the golden one. Passes without a golden value, which
/// report_hashes() states.
Check check_golden(const State& state, const ProductHash& product) {
  const auto golden = state.known_result(product.key);
  if (!golden) return {"golden value", 0.0, 0.0};
  return {"hash " + product.hash + " against the golden " + golden->hash + " of " + golden->source,
          product.hash == golden->hash ? 0.0 : 1.0, 0.0};
}

/// One fact for each rank: {key, hash, golden, source, rank, device}. Every rank calls it.
void report_hashes(State& state, const ProductHash& product) {
  const auto golden = state.known_result(product.key);
  const Json mine = {{"key", product.key},
                     {"hash", product.hash},
                     {"golden", golden ? Json(golden->hash) : Json()},
                     {"source", golden ? Json(golden->source) : Json()},
                     {"rank", state.group().rank()},
                     {"device", state.device().id()}};
  for (const Json& one : gather_json(state.group(), mine)) state.facts(kResultHashTopic, one);
}

constexpr int kRepeats = 2;

Check product_of(GemmPlan& plan, const Matrices& matrices) {
  load(plan, matrices);
  plan.clear();
  plan.run(1);
  return check_product(matrices, plan.output(), plan.result());
}

/// Runs the loaded product again; counts results that differ in any bit.
Check repeatable(GemmPlan& plan, const std::vector<std::byte>& first) {
  double different = 0;
  for (int i = 0; i < kRepeats; ++i) {
    plan.clear();
    plan.run(1);
    if (!equal_bytes(plan.result(), first)) ++different;
  }
  return {"bitwise repeatability", different, 0.0};
}

/// Checks the timed product, its repetitions, its golden hash, and a product of integers. Leaves
/// the hash of the timed one in `kept`.
Check verify(const State& state, GemmPlan& plan, const Matrices& timed, ProductHash& kept) {
  const std::vector<std::byte> c = plan.result();
  kept.hash = fmt::format("{:016x}", hash_of(c));
  const Check product = check_product(timed, plan.output(), c);
  if (!product.passed()) return product;
  const Check repeated = repeatable(plan, c);
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

/// Unusual settings appear only if they are used: zeros, a shape found by a search.
Json params_of(const State& state, const GemmCase& c) {
  Json params = {
      {"dtype", to_string(c.dtype)}, {"m", c.shape.m},          {"n", c.shape.n}, {"k", c.shape.k},
      {"threads", c.threads},        {"isa", state.text("isa")}};
  if (values_of(state) == MatrixValues::zeros) params["values"] = "zeros";
  if (c.searched) params["searched"] = true;
  if (!state.flag("rotate")) params["rotate"] = false;
  return params;
}

/// The instruction peak of this run, in operations per cycle of all threads.
std::optional<CycleLimit> ceiling(const State& state, const Json& params, int threads) {
  const auto per_core = state.known_limit("per_cycle", params);
  if (!per_core) return {};
  return CycleLimit{per_core->value * threads, per_core->kind,
                    per_core->source + ": " + format(per_core->value, Unit::count) +
                        " per cycle and core x " + std::to_string(threads)};
}

/// Chooses among the candidates with separate data.
void tune(GemmPlan& plan, const GemmCase& c, MatrixValues values, std::uint64_t seed) {
  const Matrices trial = make_matrices(c.shape, c.dtype, values, seed);
  load(plan, trial);
  plan.tune();
}

/// Where the time of a product goes, in seconds by phase: a fact of the job, which shows how long a
/// GPU waits for the host.
class PhaseTimes {
 public:
  explicit PhaseTimes(Device& device) : device_(device), last_(device.now()) {}

  /// What has passed since the last phase belongs to this one.
  void end(const char* phase) {
    const Seconds now = device_.now();
    seconds_[phase] = seconds_.value(phase, 0.0) + (now - last_).value;
    last_ = now;
  }
  const Json& seconds() const { return seconds_; }

 private:
  Device& device_;
  Seconds last_;
  Json seconds_ = Json::object();
};

/// With the library, isa, candidates, ... of the job's parameters.
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

/// By the library of rank 0 on all ranks, whose trials may differ: they share a series.
GemmOffer prepare_alike(Group& group, Gemm& gemm, GemmRequest& request) {
  GemmOffer offer = gemm.prepare(request);
  if (group.size() == 1) return offer;
  const std::string own = offer.plan ? offer.plan->library() : "";
  const std::string first = agreed(group, group.rank() == 0 ? own : "");
  if (first.empty() || own.empty() || own == first) return offer;
  offer.plan.reset();
  request.library = first;
  return gemm.prepare(request);
}

}  // namespace

void measure_product(State& state, Gemm& gemm, const GemmCase& c) {
  PhaseTimes phases(state.device());
  Json params = params_of(state, c);
  GemmRequest request = gemm_request(state, c);
  const GemmOffer offer = prepare_alike(state.group(), gemm, request);
  if (accumulates_fast(request)) params["fast_accumulation"] = true;
  if (const auto reason = agreed(state.group(), offer.plan ? "" : offer.reason); !reason.empty())
    return state.skip_series("throughput", params, reason);
  GemmPlan& plan = *offer.plan;
  params["library"] = plan.library();
  params["packed"] = plan.packed();

  const std::uint64_t seed = state.job().seed;
  phases.end("prepare");
  if (request.candidates > 1) tune(plan, c, values_of(state), seed + 2);
  params["implementation"] = plan.implementation();
  phases.end("candidates");
  const Matrices matrices = make_matrices(c.shape, c.dtype, values_of(state), seed);
  load(plan, matrices);
  plan.clear();
  phases.end("matrices");
  Report report{.metric = "throughput",
                .amount = c.shape.operations(),
                .cycle_limit = ceiling(state, params, c.threads)};
  if (is_integer(c.dtype)) report.unit = Unit::op_per_second;
  ProductHash product{product_key(gemm, plan, request, seed)};
  if (matrices.values == MatrixValues::zeros) product.key["values"] = "zeros";
  const Measured measured = state.measure({.params = params,
                                           .work = [&](std::int64_t calls) { plan.run(calls); },
                                           .reports = {report},
                                           .verify =
                                               [&] {
                                                 phases.end("samples");
                                                 const Check check =
                                                     verify(state, plan, matrices, product);
                                                 phases.end("verification");
                                                 return check;
                                               },
                                           .clock = [&] { return plan.clock(); },
                                           .core_share = [&] { return plan.core_share(); },
                                           .threads = c.threads});
  phases.end("samples");
  state.facts("gemm_seconds", {{"params", params}, {"seconds", phases.seconds()}});
  report_hashes(state, product);
  if (measured.outcome == Status::ok && measured.cycles && measured.clean > 0)
    state.value("per_cycle", c.shape.operations() / (*measured.cycles * c.threads), params);
}

namespace {

// No powers of two, so that the rows of a matrix differ.
constexpr GemmShape kPattern{1021, 1019, 1056};

std::span<const std::byte> repeated(const std::vector<std::byte>& pattern,
                                    std::vector<std::byte>& made, std::size_t bytes) {
  for (std::size_t at = made.size(); at < bytes; at = made.size()) {
    const std::size_t inside = at % pattern.size();
    const std::size_t more = std::min(pattern.size() - inside, bytes - at);
    const auto from = pattern.begin() + static_cast<std::ptrdiff_t>(inside);
    made.insert(made.end(), from, from + static_cast<std::ptrdiff_t>(more));
  }
  return std::span(made).first(bytes);
}

}  // namespace

TrialMatrices::TrialMatrices(Dtype dtype, std::uint64_t seed)
    : pattern_(make_matrices(kPattern, dtype, MatrixValues::random, seed)) {}

void TrialMatrices::load(GemmPlan& plan, const GemmShape& shape) {
  const auto bytes = [](std::int64_t rows, std::int64_t columns, Dtype dtype) {
    return static_cast<std::size_t>(rows * columns) * size_of(dtype);
  };
  const Dtype dtype = pattern_.dtype;
  plan.load(repeated(pattern_.a, a_, bytes(shape.m, shape.k, dtype_of_a(dtype))),
            repeated(pattern_.b, b_, bytes(shape.k, shape.n, dtype_of_b(dtype))));
  const auto block = static_cast<std::int64_t>(block_of(dtype));
  if (block == 0) return;
  const auto copy = [](std::span<const std::byte> from) {
    return std::vector<std::byte>(from.begin(), from.end());
  };
  const std::int64_t blocks = shape.k / block;
  plan.scale({copy(repeated(pattern_.scales.a, a_scales_, bytes(shape.m, blocks, dtype))),
              copy(repeated(pattern_.scales.b, b_scales_, bytes(blocks, shape.n, dtype))),
              pattern_.scales.tensor});
}

namespace {

constexpr int kTimings = 3;
constexpr double kTimedSeconds = 0.01;  // in one timing
constexpr double kMostBytes = 8e9;      // larger ones take long to copy and are no faster

double most_bytes(State& state) {
  MemorySystem* memory = state.device().memory();
  const double available = memory == nullptr ? kMostBytes : memory->available_bytes();
  return std::min(kMostBytes, available / 4);  // on a host the data are in memory twice
}

int multiprocessors(State& state) {
  const Json facts = state.device().facts();
  return facts.is_object() ? facts.value("multiprocessors", 0) : 0;
}

ShapeBounds bounds_of(State& state, Dtype dtype) {
  // The minimum of all ranks, because all ranks must try the same shapes.
  return {.most_bytes = least(state.group(), most_bytes(state)),
          .element_bytes = static_cast<double>(size_of(dtype)),
          .output_bytes = static_cast<double>(std::max<std::size_t>(4, size_of(dtype))),
          .multiprocessors = static_cast<int>(least(state.group(), multiprocessors(state)))};
}

/// The median of a few timings of one product, warmed up by the call that estimates its time.
double brief_timing(Device& device, GemmPlan& plan) {
  device.untimed([&] { plan.run(1); });
  const double once = device.timed([&] { plan.run(1); }, 1).value;
  const auto calls =
      static_cast<std::int64_t>(std::clamp(kTimedSeconds / std::max(once, 1e-9), 1.0, 300.0));
  std::vector<double> seconds;
  for (int i = 0; i < kTimings; ++i)
    seconds.push_back(device.timed([&] { plan.run(calls); }, calls).value /
                      static_cast<double>(calls));
  return median(seconds);
}

class Trials {
 public:
  Trials(State& state, Gemm& gemm, Dtype dtype, int threads)
      : state_(state),
        gemm_(gemm),
        matrices_(dtype, state.job().seed + 3),
        dtype_(dtype),
        threads_(threads) {}

  /// The time of the slowest rank; nothing if any rank does not support the product.
  std::optional<Seconds> time(const GemmShape& shape) {
    GemmRequest request = gemm_request(state_, {dtype_, shape, threads_});
    request.candidates = 1;
    const GemmOffer offer = gemm_.prepare(request);
    reason_ = agreed(state_.group(), offer.plan ? "" : offer.reason);
    if (!reason_.empty()) return {};
    matrices_.load(*offer.plan, shape);
    return Seconds{largest(state_.group(), brief_timing(state_.device(), *offer.plan))};
  }

  const std::string& reason() const { return reason_; }

 private:
  State& state_;
  Gemm& gemm_;
  TrialMatrices matrices_;
  Dtype dtype_;
  int threads_;
  std::string reason_;
};

Json columns_of(const std::vector<ShapeTrial>& trials, Dtype dtype, int threads) {
  Json columns = Json::object();
  for (const char* name : {"dtype", "threads", "m", "n", "k", "seconds", "again"})
    columns[name] = Json::array();
  for (const ShapeTrial& trial : trials) {
    columns["dtype"].push_back(to_string(dtype));
    columns["threads"].push_back(threads);
    columns["m"].push_back(trial.shape.m);
    columns["n"].push_back(trial.shape.n);
    columns["k"].push_back(trial.shape.k);
    columns["seconds"].push_back(trial.seconds ? Json(trial.seconds->value) : Json());
    columns["again"].push_back(trial.again);
  }
  return columns;
}

}  // namespace

std::optional<GemmCase> search_shape(State& state, Gemm& gemm, Dtype dtype, int threads,
                                     Seconds budget) {
  const Seconds begin = state.device().now();
  const auto elapsed = [&] {
    return Seconds{largest(state.group(), (state.device().now() - begin).value)};
  };
  Trials trials(state, gemm, dtype, threads);
  ShapeSearch search(bounds_of(state, dtype), budget);
  while (const auto shape = search.next(elapsed())) search.record(trials.time(*shape));
  state.chunk("shape_search", columns_of(search.trials(), dtype, threads));
  if (const auto shape = search.winner()) return GemmCase{dtype, *shape, threads, true};
  const std::string reason =
      trials.reason().empty() ? "no shape could be timed within search_s" : trials.reason();
  state.skip_series("throughput",
                    {{"dtype", to_string(dtype)}, {"threads", threads}, {"searched", true}},
                    reason);
  return {};
}

}  // namespace bench
