// Control charts of a standardised series (value minus mean, over sigma), for dashboards only: with
// a mean and sigma from thirty nights of history false alarms are several times more frequent than
// tabulated, so no verdict uses them.
#pragma once

#include <span>
#include <vector>

namespace bench {

/// S = max(0, S - z - k): grows while values are more than k below the mean (Page 1954).
std::vector<double> cusum_below(std::span<const double> z, double k = 0.5);

struct EwmaPoint {
  double value = 0.0;
  double limit = 0.0;  // the alarm is at +-limit
};
/// E = lambda z + (1 - lambda) E, from 0; limit = sigmas sqrt(lambda / (2 - lambda) (1 - (1 -
/// lambda)^2i)) (Roberts 1959).
std::vector<EwmaPoint> ewma(std::span<const double> z, double lambda = 0.2, double sigmas = 3.0);

}  // namespace bench
