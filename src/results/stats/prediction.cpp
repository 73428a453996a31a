#include "results/stats/prediction.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

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

PredictionTest predict(std::span<const double> history, double value, const VariancePrior& prior,
                       double floor, double tail) {
  const auto n = static_cast<double>(history.size());
  const double deviation = standard_deviation(history);
  PredictionTest result;
  result.centre = mean(history);
  result.degrees = n - 1.0 + prior.degrees;
  result.variance =
      std::max(moderated_variance(prior, deviation * deviation, n - 1.0), floor * floor);
  const double distance = value - result.centre;
  // 0 / 0 if nothing ever changed, including this value: no evidence.
  result.t =
      distance == 0.0 ? 0.0 : distance / (std::sqrt(result.variance) * std::sqrt(1.0 + 1.0 / n));
  if (tail < result.degrees) {  // t of so few degrees has a larger variance than one
    result.degrees = tail;
    result.t *= std::sqrt(tail / (tail - 2.0));
  }
  result.above = student_cdf(-result.t, result.degrees);
  result.below = student_cdf(result.t, result.degrees);
  return result;
}

void TailMoments::add(std::span<const double> history, bool below) {
  constexpr double kMost = 8.0;  // limits the weight of one bad night over a thousand series
  const auto n = static_cast<double>(history.size());
  const double centre = mean(history), deviation = standard_deviation(history);
  if (n < 7.0 || !(deviation > 0.0)) return;  // below, Student's t has no fourth moment
  for (const double value : history) {
    if ((value < centre) != below) continue;
    const double inside = (value - centre) / (deviation * std::sqrt(1.0 - 1.0 / n));
    const double rest = std::max((n - 1.0 - inside * inside) / (n - 2.0), 1e-12);
    const double t = std::min(std::abs(inside) / std::sqrt(rest), kMost);
    residuals.push_back(t);
    second += t * t;
    fourth += t * t * t * t;
    count += 1.0;
    normal += 3.0 * (n - 4.0) / (n - 6.0);  // kurtosis of t with n - 2 degrees
  }
}

TailMoments TailMoments::without(std::span<const double> history, bool below) const {
  TailMoments own;
  own.add(history, below);
  return {fourth - own.fourth, second - own.second, count - own.count, {}, normal - own.normal};
}

double TailMoments::degrees() const {
  const double kurtosis = count * fourth / (second * second);
  const double excess = 3.0 * kurtosis / (normal / count) - 3.0;
  return excess > 0.0 ? 4.0 + 6.0 / excess : std::numeric_limits<double>::infinity();
}

std::size_t TailMoments::reaching(double t) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(residuals, [t](double residual) { return residual >= t; }));
}

}  // namespace bench
