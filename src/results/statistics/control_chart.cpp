#include "results/statistics/control_chart.h"

#include <algorithm>
#include <cmath>

namespace bench {

std::vector<double> cusum_below(std::span<const double> z, double k) {
  std::vector<double> result;
  double sum = 0.0;
  for (const double value : z) result.push_back(sum = std::max(0.0, sum - value - k));
  return result;
}

std::vector<EwmaPoint> ewma(std::span<const double> z, double lambda, double sigmas) {
  std::vector<EwmaPoint> result;
  double average = 0.0, rest = 1.0;
  for (const double value : z) {
    average = lambda * value + (1.0 - lambda) * average;
    rest *= (1.0 - lambda) * (1.0 - lambda);
    result.push_back({average, sigmas * std::sqrt(lambda / (2.0 - lambda) * (1.0 - rest))});
  }
  return result;
}

}  // namespace bench
