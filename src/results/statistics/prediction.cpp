#include "results/statistics/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/statistics/distributions.h"

namespace bench {

Prediction predict(std::span<const double> history, double value, const VariancePrior& prior,
                   double floor, double tail) {
  const auto n = static_cast<double>(history.size());
  const double deviation = standard_deviation(history);
  Prediction result;
  result.centre = mean(history);
  result.degrees = n - 1.0 + prior.degrees;
  result.variance =
      std::max(moderated_variance(prior, deviation * deviation, n - 1.0), floor * floor);
  const double distance = value - result.centre;
  // 0 / 0 where nothing ever moved, this value included: no evidence of anything.
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
  const double centre = mean(history), deviation = standard_deviation(history);
  if (!(deviation > 0.0)) return;
  for (const double value : history) {
    const double z = (value - centre) / deviation;
    if ((z < 0.0) != below) continue;
    second += z * z;
    fourth += z * z * z * z;
    count += 1.0;
  }
}

double TailMoments::degrees() const {
  const double excess = count * fourth / (second * second) - 3.0;
  return excess > 0.0 ? 4.0 + 6.0 / excess : std::numeric_limits<double>::infinity();
}

double conformal_below(std::span<const double> history, double value) {
  const auto not_above = std::ranges::count_if(history, [&](double h) { return h <= value; });
  return (1.0 + static_cast<double>(not_above)) / (1.0 + static_cast<double>(history.size()));
}

}  // namespace bench
