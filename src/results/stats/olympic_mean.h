// MLPerf's score of several trainings: the mean of N run times without the fastest and the slowest.
// A run that missed its target counts as the slowest; with two of them there is no score (MLPerf
// training rules, section "Run Results").
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/json_fields.h"

namespace bench {

struct OlympicMean {
  double mean = kNoValue;
  double standard_error = kNoValue;
  double low = kNoValue;  // 95 % interval
  double high = kNoValue;
  std::size_t runs = 0;
  std::size_t without = 0;  // runs that missed the target
  std::size_t kept = 0;     // runs in the mean
  bool trimmed = false;     // else the plain mean, of fewer than three runs
  std::string why = {};     // why the mean or the interval is missing; "" if neither is
};

/// `values`: one per run, infinity or NaN for a missed target. The interval is that of a trimmed
/// mean: dropped values are replaced by their nearest neighbour (Winsorised), SE = sqrt(SSD_w / (h
/// (h - 1))) with h runs kept, t with h - 1 degrees of freedom (Yuen 1974, Biometrika 61, 165).
/// Using only the kept runs would underestimate the variation. Needs four runs: of three, one is
/// kept.
OlympicMean olympic_mean(std::span<const double> values);

// How much equal trainings with other seeds differ, and how many of them a mean needs.

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
