#include "results/stats/step_test.h"

#include <algorithm>
#include <cmath>

#include "results/stats/distributions.h"

namespace bench {
namespace {

/// Sums of the regression of y on a level and a step.
struct Sums {
  double ll = 0.0, ls = 0.0, ss = 0.0, ly = 0.0, sy = 0.0, yy = 0.0;

  void add(double level, double step, double y) {
    ll += level * level;
    ls += level * step;
    ss += step * step;
    ly += level * y;
    sy += step * y;
    yy += y * y;
  }
};

/// The first value has the variance of all, the others are reduced to their innovations. Values
/// are taken from `centre`, which keeps the digits of small changes of large values.
Sums whitened(std::span<const double> values, std::size_t at, double phi, double centre) {
  Sums sums;
  const double first = std::sqrt(1.0 - phi * phi);
  sums.add(first, 0.0, first * (values[0] - centre));
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double step = i < at ? 0.0 : i == at ? 1.0 : 1.0 - phi;
    sums.add(1.0 - phi, step, values[i] - centre - phi * (values[i - 1] - centre));
  }
  return sums;
}

}  // namespace

StepTest step_test(std::span<const double> values, std::size_t at, double correlation,
                   const VariancePrior& prior, double floor) {
  const Sums sums = whitened(values, at, correlation, values[0]);
  const double determinant = sums.ll * sums.ss - sums.ls * sums.ls;
  const double level = (sums.ss * sums.ly - sums.ls * sums.sy) / determinant;
  StepTest found;
  found.shift = (sums.ll * sums.sy - sums.ls * sums.ly) / determinant;
  const double own_degrees = static_cast<double>(values.size()) - 2.0;
  const double squares = std::max(0.0, sums.yy - level * sums.ly - found.shift * sums.sy);
  const double innovation = 1.0 - correlation * correlation;  // of the variance of a value
  const VariancePrior of_innovations{innovation * prior.variance, prior.degrees};
  found.variance = std::max(moderated_variance(of_innovations, squares / own_degrees, own_degrees),
                            innovation * floor * floor);
  found.degrees = own_degrees + prior.degrees;
  found.error = std::sqrt(found.variance * sums.ll / determinant);
  found.t = found.shift == 0.0 ? 0.0 : found.shift / found.error;
  found.p = 2.0 * student_cdf(-std::abs(found.t), found.degrees);
  return found;
}

}  // namespace bench
