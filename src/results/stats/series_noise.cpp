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

namespace {

constexpr double kHighestCorrelation = 0.9;
constexpr double kFarthest = 3.0;  // robust sigmas
// Standard errors, by simulation (scripts/evidence judgement_rates): one costs a tenth of the steps
// that are found, none finds steps that are not there.
constexpr double kMargin = 0.3;

/// Values less the means of their levels.
std::vector<double> residuals_of(std::span<const double> values,
                                 std::span<const std::size_t> begins) {
  std::vector<double> rest(values.begin(), values.end());
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : values.size();
    const double level = mean(values.subspan(begins[i], end - begins[i]));
    for (std::size_t t = begins[i]; t < end; ++t) rest[t] -= level;
  }
  return rest;
}

void clamp_far_ones(std::vector<double>& residuals) {
  std::vector<double> sizes;
  for (const double one : residuals) sizes.push_back(std::abs(one));
  const double most = kFarthest * kMadToSigma * median(sizes);
  if (!(most > 0.0)) return;
  for (double& one : residuals) one = std::clamp(one, -most, most);
}

}  // namespace

double correlation_about_levels(std::span<const double> values,
                                std::span<const std::size_t> begins) {
  std::vector<double> rest = residuals_of(values, begins);
  clamp_far_ones(rest);
  double squares = 0.0, products = 0.0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    squares += rest[i] * rest[i];
    if (i > 0) products += rest[i] * rest[i - 1];
  }
  if (!(squares > 0.0)) return 0.0;
  // The estimated mean of n values lowers the estimate by (1 + 3 phi) / n (Kendall 1954).
  const double lost = static_cast<double>(begins.size()) / static_cast<double>(values.size());
  const double raised = (products / squares + lost) / std::max(0.5, 1.0 - 3.0 * lost);
  return std::clamp(raised, 0.0, kHighestCorrelation);
}

std::vector<double> shrunk_correlations(std::span<const double> correlations,
                                        std::span<const double> counts) {
  double total = 0.0, centre = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    centre += counts[i] * correlations[i];
  }
  centre /= total;
  double spread = 0.0, chance = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double distance = correlations[i] - centre;
    spread += counts[i] / total * distance * distance;
    chance += (1.0 - centre * centre) / total;
  }
  const double real = std::max(0.0, spread - chance);
  const double margin = std::sqrt((1.0 - centre * centre) / total);
  std::vector<double> shrunk;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double own = (1.0 - centre * centre) / counts[i];
    const double drawn = centre + (correlations[i] - centre) * real / (real + own);
    shrunk.push_back(std::min(kHighestCorrelation, std::max(centre, drawn) + kMargin * margin));
  }
  return shrunk;
}

double variance_inflation(double correlation) { return (1.0 + correlation) / (1.0 - correlation); }

}  // namespace bench
