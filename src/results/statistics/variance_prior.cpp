#include "results/statistics/variance_prior.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"

namespace bench {
namespace {

constexpr double kAsymptotic = 8.0;

/// y with trigamma(y) = value; trigamma falls from infinity to zero.
double inverse_trigamma(double value) {
  double low = 1e-8, high = 1e8;
  for (int i = 0; i < 200 && high > low * (1.0 + 1e-13); ++i) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > value ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

double digamma(double x) {
  double sum = 0.0;
  for (; x < kAsymptotic; x += 1.0) sum -= 1.0 / x;
  const double r = 1.0 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

double trigamma(double x) {
  double sum = 0.0;
  for (; x < kAsymptotic; x += 1.0) sum += 1.0 / (x * x);
  const double r = 1.0 / (x * x);
  return sum + 1.0 / x + 0.5 * r +
         r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * 5 / 66))));
}

VariancePrior variance_prior(std::span<const double> variances, std::span<const double> degrees) {
  if (variances.size() < kFewestVariances) return {};
  const double least = 1e-5 * median(variances);  // a constant series has no ln
  if (!(least > 0.0)) return {};
  std::vector<double> logs;
  double chance = 0.0;  // variance of ln s^2 if all have the same variance
  for (std::size_t i = 0; i < variances.size(); ++i) {
    const double half = 0.5 * degrees[i];
    logs.push_back(std::log(std::max(variances[i], least)) - digamma(half) + std::log(half));
    chance += trigamma(half) / static_cast<double>(variances.size());
  }
  const double spread = standard_deviation(logs);
  const double extra = spread * spread - chance;
  const double firmest = trigamma(0.5 * kFirmestPrior);
  const double half = extra > firmest ? inverse_trigamma(extra) : 0.5 * kFirmestPrior;
  return {std::exp(mean(logs) + digamma(half) - std::log(half)), 2.0 * half};
}

double moderated_variance(const VariancePrior& prior, double variance, double degrees) {
  return (prior.degrees * prior.variance + degrees * variance) / (prior.degrees + degrees);
}

}  // namespace bench
