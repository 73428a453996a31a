// Samples inside runs: which of the two makes the noise, and how many of each to take. Kalibera and
// Jones 2013.
#pragma once

#include <span>
#include <vector>

namespace bench {

struct TwoLevels {
  double mean = 0.0;
  double within = 0.0;      // variance of samples inside a run
  double of_means = 0.0;    // variance of the runs' means
  double between = 0.0;     // variance between runs only; zero if it cannot be estimated
  double half_width = 0.0;  // of the mean's 95 % interval, with runs as the replicates
};

/// Needs two or more runs with equal numbers of samples, at least two each; otherwise all NaN.
TwoLevels two_levels(std::span<const std::vector<double>> runs);

/// Samples per run that minimise the interval for a fixed total time, if starting a run costs as
/// much as `run_cost` samples: sqrt(run_cost within / between). Infinite if runs do not differ.
double best_samples_per_run(const TwoLevels& levels, double run_cost);

}  // namespace bench
