// The score of several trainings, as MLPerf makes it: of the times of N runs the fastest and the
// slowest are dropped, and the rest is averaged. A run that did not reach its target counts as the
// slowest; two of them, and there is no score (MLPerf training rules, section "Run Results").
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "results/json_fields.h"

namespace bench {

struct OlympicMean {
  double mean = kNoValue;
  double standard_error = kNoValue;
  double low = kNoValue;  // 95 % interval
  double high = kNoValue;
  std::size_t runs = 0;
  std::size_t without = 0;  // runs that reached no target
  std::size_t kept = 0;     // runs that the mean is of
  bool trimmed = false;     // else the plain mean, of fewer than three runs
  std::string why = {};     // why there is no mean, or no interval; "" where both are there
};

/// `values`: one a run, infinity or NaN for one that reached no target.
///
/// The interval is that of a trimmed mean: the dropped values are pulled in to their nearest
/// neighbour (Winsorised), SE = sqrt(SSD_w / (h (h - 1))) with h runs kept, t of h - 1 degrees
/// (Yuen 1974, Biometrika 61, 165). The kept runs taken by themselves would scatter too little,
/// because the extremes are gone. It takes four runs; three keep one, which knows no scatter.
OlympicMean olympic_mean(std::span<const double> values);

}  // namespace bench
