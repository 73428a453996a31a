// What more ranks bring: efficiency t1 / (n tn) of equal trainings on n times as many ranks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/json_fields.h"

namespace bench {

struct TrainingGroup;

struct ScalingPoint {
  std::int64_t ranks = 1;
  std::size_t group = 0;               // index in TrainingReport::groups
  double items_per_second = kNoValue;  // the geometric mean over runs
  /// Throughput over that of the base, by ranks: what the machine does.
  double efficiency = kNoValue, low = kNoValue, high = kNoValue;
  /// Time to the target of the base over n/n0 times its own: what the user gets, with what a larger
  /// batch costs in samples.
  double time_efficiency = kNoValue, time_low = kNoValue, time_high = kNoValue;
};

struct Scaling {
  bool weak = false;                 // the batch of a rank is fixed; else the batch of all
  std::int64_t base = 1;             // the fewest ranks there are
  std::vector<ScalingPoint> points;  // by ranks
  std::string interval;              // what the intervals know and do not know
};

/// Strong and weak scalings among the groups, each of two numbers of ranks or more. Intervals are
/// 95 %: with two runs or more at each point Welch's, on the logarithms of the runs' throughputs;
/// else from the windows of single runs, which do not know how runs differ. Those of times combine
/// the standard errors of the olympic means, relative to first order.
std::vector<Scaling> scalings_of(std::span<const TrainingGroup> groups);

}  // namespace bench
