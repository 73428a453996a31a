#include "results/statistics/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/statistics/distributions.h"

namespace bench {

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

double TailMoments::degrees() const {
  const double kurtosis = count * fourth / (second * second);
  const double excess = 3.0 * kurtosis / (normal / count) - 3.0;
  return excess > 0.0 ? 4.0 + 6.0 / excess : std::numeric_limits<double>::infinity();
}

std::size_t TailMoments::reaching(double t) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(residuals, [t](double residual) { return residual >= t; }));
}

double conformal_below(std::span<const double> history, double value) {
  const auto not_above = std::ranges::count_if(history, [&](double h) { return h <= value; });
  return (1.0 + static_cast<double>(not_above)) / (1.0 + static_cast<double>(history.size()));
}

}  // namespace bench
