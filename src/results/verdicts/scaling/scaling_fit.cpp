#include "results/verdicts/scaling/scaling_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "results/stats/distributions.h"
#include "results/verdicts/scaling/small_system.h"

namespace bench {
namespace {

// Least squares for scaling_fit: ln X = ln lambda + ln N - ln(1 + alpha (N-1) + beta N (N-1)).

/// ln lambda, alpha, beta.
using ScalingTheta = std::array<double, 3>;
using ScalingFree = std::vector<std::size_t>;  // which of them are fitted; the rest are 0

struct ScalingResiduals {
  std::vector<double> values;
  std::vector<std::vector<double>> rows;  // of the Jacobian of the model, all three columns
  double square = 0.0;                    // infinite where the model has no logarithm
};

ScalingResiduals scaling_residuals(std::span<const RateAt> values, const ScalingTheta& theta);
/// Columns of the Jacobian for the free parameters.
std::vector<std::vector<double>> free_columns(const ScalingResiduals& residuals,
                                              const ScalingFree& free);

struct ScalingSquares {
  ScalingTheta theta{};
  ScalingFree free;
  double square = HUGE_VAL;
};

constexpr int kSteps = 200;
constexpr double kSettled = 1e-14;

/// One Levenberg-Marquardt step; nothing if the equations are singular.
std::optional<ScalingTheta> step(const ScalingTheta& theta, const ScalingResiduals& at,
                                 const ScalingFree& free, double damp) {
  const auto rows = free_columns(at, free);
  SmallMatrix matrix = normal_matrix(rows, free.size());
  for (std::size_t i = 0; i < free.size(); ++i) matrix[i][i] *= 1.0 + damp;
  const auto inverted = inverse(matrix);
  if (!inverted) return {};
  const auto move = product(*inverted, normal_right(rows, at.values, free.size()));
  ScalingTheta next = theta;
  for (std::size_t i = 0; i < free.size(); ++i) next[free[i]] += move[i];
  return next;
}

/// Starts from alpha = beta = 0, where ln lambda is a mean.
ScalingTheta fitted(std::span<const RateAt> values, const ScalingFree& free) {
  ScalingTheta theta{};
  for (const RateAt& at : values)
    theta[0] += (std::log(at.rate) - std::log(at.n)) / static_cast<double>(values.size());
  ScalingResiduals here = scaling_residuals(values, theta);
  double damp = 1e-3;
  for (int i = 0; i < kSteps && here.square > 0.0; ++i) {
    const auto next = step(theta, here, free, damp);
    if (!next) break;
    ScalingResiduals there = scaling_residuals(values, *next);
    if (!(there.square <= here.square)) {
      damp *= 8.0;
      if (damp > 1e12) break;
      continue;
    }
    const bool settled = here.square - there.square <= kSettled * here.square && damp < 1e-6;
    theta = *next;
    here = std::move(there);
    damp = std::max(damp / 8.0, 1e-12);
    if (settled) break;
  }
  return theta;
}

double scaling_cost(const ScalingTheta& theta, double n) {
  return 1.0 + theta[1] * (n - 1.0) + theta[2] * n * (n - 1.0);
}

ScalingResiduals scaling_residuals(std::span<const RateAt> values, const ScalingTheta& theta) {
  ScalingResiduals found;
  for (const RateAt& at : values) {
    const double cost = scaling_cost(theta, at.n);
    if (!(cost > 0.0)) {
      found.square = HUGE_VAL;
      return found;
    }
    const double rest = std::log(at.rate) - (theta[0] + std::log(at.n) - std::log(cost));
    found.values.push_back(rest);
    found.rows.push_back({1.0, -(at.n - 1.0) / cost, -at.n * (at.n - 1.0) / cost});
    found.square += rest * rest;
  }
  return found;
}

std::vector<std::vector<double>> free_columns(const ScalingResiduals& residuals,
                                              const ScalingFree& free) {
  std::vector<std::vector<double>> rows;
  for (const auto& row : residuals.rows) {
    rows.emplace_back();
    for (const std::size_t column : free) rows.back().push_back(row[column]);
  }
  return rows;
}

/// Least squares with alpha, beta >= 0: the best set of free parameters whose unconstrained optimum
/// satisfies the bounds. The line without either always does.
ScalingSquares least_squares(std::span<const RateAt> values, const std::vector<ScalingFree>& sets) {
  ScalingSquares best;
  for (const ScalingFree& free : sets) {
    const ScalingTheta theta = fitted(values, free);
    if (theta[1] < 0.0 || theta[2] < 0.0) continue;
    const double square = scaling_residuals(values, theta).square;
    if (square < best.square) best = {theta, free, square};
  }
  return best;
}

constexpr double kReach = 2.0;       // times the largest N
constexpr double kBothEnds = 0.975;  // of a 95 % interval

SmallMatrix covariance_of(const ScalingResiduals& at, const ScalingSquares& best, double variance) {
  SmallMatrix all(3, std::vector<double>(3, 0.0));
  const auto inverted = inverse(normal_matrix(free_columns(at, best.free), best.free.size()));
  if (!inverted) return all;
  for (std::size_t i = 0; i < best.free.size(); ++i)
    for (std::size_t k = 0; k < best.free.size(); ++k)
      all[best.free[i]][best.free[k]] = variance * (*inverted)[i][k];
  return all;
}

/// How large a parameter on its bound may be: its standard error were it free too.
double upper_bound(const ScalingResiduals& at, ScalingFree free, std::size_t parameter,
                   double variance, double t) {
  free.push_back(parameter);
  const auto inverted = inverse(normal_matrix(free_columns(at, free), free.size()));
  return inverted ? t * std::sqrt(variance * inverted->back().back()) : kNoValue;
}

FitParameter parameter_of(const ScalingResiduals& at, const ScalingSquares& best,
                          const SmallMatrix& covariance, std::size_t i, double variance, double t) {
  FitParameter found{best.theta[i]};
  if (std::ranges::find(best.free, i) == best.free.end()) {
    found.on_bound = true;
    found.high = upper_bound(at, best.free, i, variance, t);
    return found;
  }
  const double half = t * std::sqrt(covariance[i][i]);
  found.low = std::max(0.0, found.value - half);
  found.high = found.value + half;
  return found;
}

bool can_be_fitted(std::span<const RateAt> values, std::size_t fewest) {
  std::set<double> different;
  for (const RateAt& at : values) {
    if (!(at.n >= 1.0) || !(at.rate > 0.0) || !std::isfinite(at.n) || !std::isfinite(at.rate))
      return false;
    different.insert(at.n);
  }
  return different.size() >= fewest;
}

ScalingFit fit_of(std::span<const RateAt> values, const std::string& model,
                  const std::vector<ScalingFree>& sets) {
  const ScalingSquares best = least_squares(values, sets);
  const ScalingResiduals at = scaling_residuals(values, best.theta);
  const bool usl = model == "usl";
  ScalingFit fit{model, {}, {}, {}};
  fit.values = values.size();
  fit.degrees = values.size() - best.free.size();
  const double variance = best.square / static_cast<double>(fit.degrees);
  const double t = student_quantile(kBothEnds, static_cast<double>(fit.degrees));
  fit.deviation = std::sqrt(variance);
  fit.aicc = aicc_of(best.square, values.size(), usl ? 4 : 3);
  fit.covariance = covariance_of(at, best, variance);
  const double lambda = std::exp(best.theta[0]);
  const double half = lambda * t * std::sqrt(fit.covariance[0][0]);
  fit.lambda = {lambda, lambda - half, lambda + half};
  fit.alpha = parameter_of(at, best, fit.covariance, 1, variance, t);
  if (usl) fit.beta = parameter_of(at, best, fit.covariance, 2, variance, t);
  for (const RateAt& one : values) fit.largest = std::max(fit.largest, one.n);
  return fit;
}

}  // namespace

double aicc_of(double square, std::size_t values, std::size_t parameters) {
  const auto n = static_cast<double>(values), k = static_cast<double>(parameters);
  if (!(n - k - 1.0 > 0.0)) return std::numeric_limits<double>::infinity();
  const double least = 1e-30;  // an exact fit must not win by infinity
  return n * std::log(std::max(square, least) / n) + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0);
}

double ScalingFit::rate(double n) const {
  return lambda.value * n / scaling_cost({0.0, alpha.value, beta.value}, n);
}

double ScalingFit::best_n() const {
  if (!(beta.value > 0.0)) return std::numeric_limits<double>::infinity();
  return alpha.value < 1.0 ? std::max(1.0, std::sqrt((1.0 - alpha.value) / beta.value)) : 1.0;
}

std::optional<ScalingFit> amdahl_fit(std::span<const RateAt> values) {
  if (!can_be_fitted(values, kFewestForAmdahl)) return {};
  return fit_of(values, "amdahl", {{0, 1}, {0}});
}

std::optional<ScalingFit> usl_fit(std::span<const RateAt> values) {
  if (!can_be_fitted(values, kFewestForUsl)) return {};
  return fit_of(values, "usl", {{0, 1, 2}, {0, 1}, {0, 2}, {0}});
}

std::optional<ScalingPrediction> predict(const ScalingFit& fit, double n) {
  if (!(n >= 1.0) || n > kReach * fit.largest) return {};
  const double cost = scaling_cost({0.0, fit.alpha.value, fit.beta.value}, n);
  const std::vector<double> gradient = {1.0, -(n - 1.0) / cost, -n * (n - 1.0) / cost};
  const auto spread = product(fit.covariance, gradient);
  double variance = fit.deviation * fit.deviation;
  for (std::size_t i = 0; i < gradient.size(); ++i) variance += gradient[i] * spread[i];
  const double t = student_quantile(kBothEnds, static_cast<double>(fit.degrees));
  const double half = t * std::sqrt(variance), rate = fit.rate(n);
  return ScalingPrediction{n, rate, rate * std::exp(-half), rate * std::exp(half)};
}

}  // namespace bench
