// How many workers a loader should have.
#pragma once

#include <optional>
#include <vector>

namespace bench::data {

/// 0, 1, 2, 4, ... and `cores`.
std::vector<int> worker_counts(int cores);

struct SweepPoint {
  int workers = 0;
  double samples_per_second = 0.0;
};

/// The smallest number that reaches 95 % of the fastest; nothing for no points.
std::optional<SweepPoint> recommended(const std::vector<SweepPoint>& points);

/// Workers that make `samples_per_second` at so much CPU time a sample, with a fifth to spare.
int workers_needed(double samples_per_second, double cpu_s);

}  // namespace bench::data
