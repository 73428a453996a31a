#include <algorithm>
#include <chrono>
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

}  // namespace

GemmOffer make_faster_blas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                                HostThreadWatch& watch) {
  GemmRequest trial = request;
  trial.shape = kTrial;
  const auto seconds = [&](const auto& make, std::string& reason) -> double {
    const GemmOffer offer = make(trial, cores, watch);  // one at a time: they share their threads
    reason = offer.reason;
    return offer.plan ? best_seconds(*offer.plan, trial) : 1e300;
  };
  std::string openblas_reason, blis_reason;
  const double openblas = seconds(make_openblas_gemm, openblas_reason);
  const double blis = seconds(make_blis_gemm, blis_reason);
  if (!openblas_reason.empty() && !blis_reason.empty())
    return {nullptr, openblas_reason + "; " + blis_reason};
  return blis * kWorthIt < openblas ? make_blis_gemm(request, cores, watch)
                                    : make_openblas_gemm(request, cores, watch);
}

}  // namespace bench
