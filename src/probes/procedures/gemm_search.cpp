#include "probes/procedures/gemm_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/order_statistics.h"
#include "probes/device/memory.h"
#include "probes/procedures/shape_search.h"
#include "probes/procedures/trial_matrices.h"

namespace bench {
namespace {

constexpr int kTimings = 3;
constexpr double kTimedSeconds = 0.01;  // in one timing
constexpr double kMostBytes = 8e9;      // more takes long to bring there and is no faster

double most_bytes(State& state) {
  MemorySystem* memory = state.device().memory();
  const double available = memory == nullptr ? kMostBytes : memory->available_bytes();
  return std::min(kMostBytes, available / 4);  // on a host the data lie there twice
}

int multiprocessors(State& state) {
  const Json facts = state.device().facts();
  return facts.is_object() ? facts.value("multiprocessors", 0) : 0;
}

ShapeBounds bounds_of(State& state, Dtype dtype) {
  // The least of all ranks: they try the same shapes, or one would wait for the others.
  std::array<double, 2> least{-most_bytes(state), -static_cast<double>(multiprocessors(state))};
  state.group().max(least);
  return {.most_bytes = -least[0],
          .element_bytes = static_cast<double>(size_of(dtype)),
          .output_bytes = static_cast<double>(std::max<std::size_t>(4, size_of(dtype))),
          .multiprocessors = static_cast<int>(-least[1])};
}

/// Of one product, the median of a few timings; warm by the call that tells how long one takes.
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

  /// The slowest rank's; nothing where one of them has no such product.
  std::optional<Seconds> time(const GemmShape& shape) {
    GemmRequest request = gemm_request(state_, {dtype_, shape, threads_});
    request.candidates = 1;
    const GemmOffer offer = gemm_.prepare(request);
    reason_ = agreed(state_.group(), offer.plan ? "" : offer.reason);
    if (!reason_.empty()) return {};
    matrices_.load(*offer.plan, shape);
    double seconds = brief_timing(state_.device(), *offer.plan);
    state_.group().max(std::span(&seconds, 1));
    return Seconds{seconds};
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

Seconds agreed(State& state, Seconds elapsed) {
  state.group().max(std::span(&elapsed.value, 1));
  return elapsed;
}

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
  const auto elapsed = [&] { return agreed(state, state.device().now() - begin); };
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
