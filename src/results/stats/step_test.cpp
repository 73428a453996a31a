#include "results/stats/step_test.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

namespace {

/// Correlation of the tests at `at` and the next place.
double likeness_of_next(std::size_t count, std::size_t at, double phi) {
  const double step = 1.0 - phi;  // of innovations after the first
  const auto after = static_cast<double>(count - 1 - at);
  const double levels = 1.0 - phi * phi + static_cast<double>(count - 1) * step * step;
  const double here = 1.0 + after * step * step, next = here - step * step;
  const double both = step + (after - 1.0) * step * step;
  const double level_here = step * (1.0 + after * step), level_next = level_here - step * step;
  const auto about_level = [&](double product, double a, double b) {
    return product - a * b / levels;
  };
  return about_level(both, level_here, level_next) /
         std::sqrt(about_level(here, level_here, level_here) *
                   about_level(next, level_next, level_next));
}

/// Owen's T(h, a): the normal probability of X > h and 0 < Y < aX. By Simpson's rule.
double owens_t(double h, double a) {
  constexpr int kIntervals = 32;
  const double width = a / kIntervals;
  double sum = 0.0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double x = i * width, weight = i == 0 || i == kIntervals ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
    sum += weight * std::exp(-0.5 * h * h * (1.0 + x * x)) / (1.0 + x * x);
  }
  return sum * width / 3.0 / (2.0 * std::numbers::pi);
}

}  // namespace

double over_places(double p, std::size_t count, std::size_t first, std::size_t last,
                   double correlation) {
  const double h = -normal_quantile(0.5 * p);
  // P(U > h or V > h) of two normal variables is P(U > h) + 2 T(h, sqrt((1 - r) / (1 + r))).
  double sum = p;
  for (std::size_t at = first; at < last && std::isfinite(h); ++at) {
    const double r = likeness_of_next(count, at, correlation);
    sum += 4.0 * owens_t(h, std::sqrt((1.0 - r) / (1.0 + r)));
  }
  return std::min(1.0, sum);
}

}  // namespace bench
