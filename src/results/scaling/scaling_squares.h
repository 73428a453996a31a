// Least squares for scaling_fit: ln X = ln lambda + ln N - ln(1 + alpha (N-1) + beta N (N-1)).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "results/scaling/scaling_fit.h"

namespace bench {

/// ln lambda, alpha, beta.
using ScalingTheta = std::array<double, 3>;
using ScalingFree = std::vector<std::size_t>;  // which of them are fitted; the rest are 0

double scaling_cost(const ScalingTheta& theta, double n);

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

/// Least squares with alpha, beta >= 0: the best set of free parameters whose unconstrained optimum
/// satisfies the bounds. The line without either always does.
ScalingSquares least_squares(std::span<const RateAt> values, const std::vector<ScalingFree>& sets);

}  // namespace bench
