#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "probes/backends/host/gemm_backends.h"

namespace bench {
namespace {

/// Two libraries closer than this are the same to us, and the better known one is taken: the choice
/// shall not change from run to run.
constexpr double kWorthIt = 1.1;
constexpr int kTries = 5;
/// The same product for all shapes, so that a suite is served by one library; some milliseconds.
constexpr GemmShape kTrial{512, 512, 512};

template <class T>
std::vector<std::byte> small_numbers(std::int64_t rows, std::int64_t columns) {
  std::vector<T> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 7) - T{3};
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

void load(GemmPlan& plan, const GemmRequest& request) {
  const auto [m, n, k] = request.shape;
  if (request.dtype == Dtype::f64)
    plan.load(small_numbers<double>(m, k), small_numbers<double>(k, n));
  else
    plan.load(small_numbers<float>(m, k), small_numbers<float>(k, n));
}

double best_seconds(GemmPlan& plan, const GemmRequest& request) {
  using Clock = std::chrono::steady_clock;
  load(plan, request);
  plan.run(1);
  double best = 1e300;
  for (int i = 0; i < kTries; ++i) {
    const auto start = Clock::now();
    plan.run(1);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// Of the trial product; nothing, with the reason, where the library has none.
std::optional<double> trial_seconds(const GemmOffer& offer, const GemmRequest& trial,
                                    std::string& reason) {
  reason = offer.reason;
  if (!offer.plan) return {};
  return best_seconds(*offer.plan, trial);
}

}  // namespace

GemmOffer make_faster_blas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                                HostThreadWatch& watch) {
  // Timed once: the same library then serves every shape of a process.
  static std::map<std::tuple<Dtype, int, std::string>, bool> blis_is_faster;
  const auto kind = std::tuple(request.dtype, request.threads, request.isa);
  auto known = blis_is_faster.find(kind);
  if (known == blis_is_faster.end()) {
    GemmRequest trial = request;
    trial.shape = kTrial;
    std::string openblas_reason, blis_reason;  // one at a time: the libraries share their threads
    const auto openblas =
        trial_seconds(make_openblas_gemm(trial, cores, watch), trial, openblas_reason);
    const auto blis = trial_seconds(make_blis_gemm(trial, cores, watch), trial, blis_reason);
    if (!openblas && !blis) return {nullptr, openblas_reason + "; " + blis_reason};
    known = blis_is_faster.emplace(kind, !openblas || (blis && *blis * kWorthIt < *openblas)).first;
  }
  return known->second ? make_blis_gemm(request, cores, watch)
                       : make_openblas_gemm(request, cores, watch);
}

}  // namespace bench
