// How a rate grows with the number of workers N, as two laws say:
//   USL     X(N) = lambda N / (1 + alpha (N - 1) + beta N (N - 1))   (Gunther 1993)
//   Amdahl  the same with beta = 0
// alpha: the share that only one can do at a time; beta: what each pair of workers costs. Fitted to
// ln X by least squares, since noise is relative, with alpha, beta >= 0. The unit is a run: several
// at one N are replicates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json_fields.h"

namespace bench {

struct RateAt {
  double n = 1.0;     // workers, >= 1
  double rate = 0.0;  // > 0, of all of them
};

struct FitParameter {
  double value = 0.0;
  /// 95 %: value -+ t s. If the fit is at the bound 0 there is no lower end, and `high` is the
  /// one-sided 97.5 % bound.
  double low = kNoValue, high = kNoValue;
  bool on_bound = false;
};

struct ScalingFit {
  std::string model;  // "usl", "amdahl"
  FitParameter lambda, alpha, beta;
  double deviation = kNoValue;  // residual, relative: of ln X, on n - p degrees of freedom
  double aicc = kNoValue;       // aicc_of()
  std::size_t values = 0, degrees = 0;
  double largest = 1.0;  // N that was measured
  /// Covariance of (ln lambda, alpha, beta); zero for fixed parameters.
  std::vector<std::vector<double>> covariance = {};

  double rate(double n) const;
  /// N of the highest rate, sqrt((1 - alpha) / beta); infinite if it only grows.
  double best_n() const;
};

/// Least number of different N for a fit.
inline constexpr std::size_t kFewestForAmdahl = 4, kFewestForUsl = 5;

/// Empty for too few different N or non-positive values.
std::optional<ScalingFit> amdahl_fit(std::span<const RateAt> values);
std::optional<ScalingFit> usl_fit(std::span<const RateAt> values);

struct ScalingPrediction {
  double n = 0.0, rate = kNoValue;
  double low = kNoValue, high = kNoValue;  // 95 % of one more run
};

/// Up to twice the largest measured N; beyond that nothing, as the law is not supported by data.
std::optional<ScalingPrediction> predict(const ScalingFit& fit, double n);

/// n ln(RSS/n) + 2k + 2k(k+1)/(n-k-1), where the k parameters include the deviation (Hurvich and
/// Tsai 1989); infinite for too few values.
double aicc_of(double square, std::size_t values, std::size_t parameters);

}  // namespace bench
