// What more ranks bring: efficiency t1 / (n tn) of equal trainings on n times as many ranks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json_fields.h"

namespace bench {

struct TrainingGroup;

struct ScalingPoint {
  std::int64_t ranks = 1;
  std::size_t group = 0;               // index in TrainingReport::groups
  double items_per_second = kNoValue;  // the geometric mean over runs
  /// Throughput relative to the base, by ranks: efficiency of the machine.
  double efficiency = kNoValue, low = kNoValue, high = kNoValue;
  /// Time to target of the base over n/n0 times its own: efficiency for the user, including the
  /// extra samples of a larger batch.
  double time_efficiency = kNoValue, time_low = kNoValue, time_high = kNoValue;
};

struct Scaling {
  bool weak = false;                 // the batch of a rank is fixed; else the batch of all
  std::int64_t base = 1;             // the fewest ranks
  std::vector<ScalingPoint> points;  // by ranks
  std::string interval;              // what the intervals include
};

/// Strong and weak scaling among the groups, each with two or more rank counts. Intervals are 95 %:
/// with two or more runs per point Welch's, on logarithms of the throughputs; otherwise over
/// windows of single runs, without run-to-run variation. For times the standard errors of the
/// olympic means are combined, relative and to first order.
std::vector<Scaling> scalings_of(std::span<const TrainingGroup> groups);

}  // namespace bench
