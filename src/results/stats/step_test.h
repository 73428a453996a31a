// Is there a step at a place of a series whose neighbours are correlated? Generalised least
// squares: level and step are fitted to the innovations y_t - phi y_(t-1), which are independent,
// so that the step is known as well as its few values allow.
#pragma once

#include <cstddef>
#include <span>

#include "results/stats/prediction.h"

namespace bench {

struct StepTest {
  double shift = 0.0;     // of the values from `at` on
  double error = 0.0;     // standard error of the shift
  double variance = 0.0;  // of the innovations, moderated
  double degrees = 0.0;
  double t = 0.0;
  double p = 1.0;  // two-sided, for this place alone
};

/// The values before `at` against those from it on; two at least on each side. `correlation`: phi,
/// from 0 to less than 1. `prior`: for the variance of a value. `floor`: least standard deviation
/// of a value.
StepTest step_test(std::span<const double> values, std::size_t at, double correlation,
                   const VariancePrior& prior = {}, double floor = 0.0);

/// Upper bound of the p of the best among the places from `first` to `last` of a series of `count`
/// values, if the test of one place has this p. Tests of neighbouring places share most of their
/// values, so they are not that many chances: Worsley, "An improved Bonferroni inequality and
/// applications", Biometrika 69 (1982), 297-302.
double over_places(double p, std::size_t count, std::size_t first, std::size_t last,
                   double correlation);

}  // namespace bench
