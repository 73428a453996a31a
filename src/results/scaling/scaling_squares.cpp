#include "results/scaling/scaling_squares.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "results/scaling/small_system.h"

namespace bench {
namespace {

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

}  // namespace

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

}  // namespace bench
