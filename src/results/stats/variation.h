// How much equal trainings differ that began with other seeds, and how many of them a mean needs.
#pragma once

#include <cstddef>
#include <span>

#include "core/json_fields.h"

namespace bench {

/// The standard error of a mean that is good enough, as a share of the mean.
inline constexpr double kGoodStandardError = 0.025;

struct Variation {
  std::size_t n = 0;
  double mean = kNoValue;
  double cv = kNoValue;   // standard deviation / mean; from two values on
  double low = kNoValue;  // its 95 % interval
  double high = kNoValue;
  double runs_needed = kNoValue;  // for kGoodStandardError of the olympic mean
  double runs_needed_low = kNoValue;
  double runs_needed_high = kNoValue;
};

/// Non-finite values are ignored. The interval of cv is Vangel's (1996, The American Statistician
/// 50, 21), for normal values with cv below a third; high is kNoValue if there are too few values
/// for a bound.
Variation variation(std::span<const double> values);

/// (1.1 cv / kGoodStandardError)^2, rounded up, at least three: dropping the two extremes of four
/// to ten normal values costs up to a tenth in the standard error of their mean.
double runs_needed(double cv);

/// x with P(chi^2 of `degrees` <= x) = p.
double chi_square_quantile(double degrees, double p);

}  // namespace bench
