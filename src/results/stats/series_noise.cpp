#include "results/stats/series_noise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

constexpr double kMeanToSigma = 1.128;  // of |difference| of two normal values, to their sigma
constexpr double kMostCorrelation = 0.7;

std::vector<double> differences(std::span<const double> values) {
  std::vector<double> result;
  for (std::size_t i = 1; i < values.size(); ++i) result.push_back(values[i] - values[i - 1]);
  return result;
}

}  // namespace

double difference_sigma(std::span<const double> values) {
  if (values.size() < 3) return 0.0;
  std::vector<double> sizes = differences(values);
  const double middle = median(sizes);
  for (double& size : sizes) size = std::abs(size - middle);
  const double robust = kMadToSigma * median(sizes) / std::sqrt(2.0);
  return robust > 0.0 ? robust : mean(sizes) / kMeanToSigma;
}

double neighbour_correlation(std::span<const double> values) {
  std::vector<double> steps = differences(values);
  if (steps.size() < 3) return 0.0;
  std::vector<double> sizes = steps;
  for (double& size : sizes) size = std::abs(size);
  const double most = 3.0 * kMadToSigma * median(sizes);
  double squares = 0.0, products = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i] = std::clamp(steps[i], -most, most);
    squares += steps[i] * steps[i];
    if (i > 0) products += steps[i] * steps[i - 1];
  }
  return squares > 0.0 ? std::clamp(1.0 + 2.0 * products / squares, 0.0, kMostCorrelation) : 0.0;
}

double variance_inflation(double correlation) { return (1.0 + correlation) / (1.0 - correlation); }

}  // namespace bench
