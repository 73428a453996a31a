// The difference of one metric between two sides, with the best design that its values allow.
#pragma once

#include <map>
#include <vector>

#include "results/verdicts/compare/compare.h"

namespace bench {

struct Estimate {
  Basis basis = Basis::none;
  Shift shift = {};  // of B - A, in logarithms or in the unit
  double p = kNoValue;
  double deviation = kNoValue;  // of single values, or of differences if paired
  std::size_t pairs = 0;
  /// Where ranks have no interval: by Welch's test, which takes the noise to be Gaussian.
  Shift by_means = {};
};

/// One value as the scale of the metric has it, with its standard error by the samples of its run.
struct Scaled {
  double y = kNoValue;
  double error = kNoValue;
};

/// Values of each unit on one side.
using ScaledUnits = std::map<UnitOfHost, std::vector<Scaled>>;

/// Six or more units on both sides: differences within units, signed rank. Fewer: run values
/// compared within each unit. One run per unit: sample errors. No common unit: one value per unit
/// if each side has four, else run values.
Estimate estimate(const ScaledUnits& a, const ScaledUnits& b);

}  // namespace bench
