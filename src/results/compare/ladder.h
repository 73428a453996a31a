// Several runs in order, each a step from the previous one (baseline, +bf16, +8 workers): gain of
// each step and cumulative gain.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/compare/compare.h"

namespace bench {

/// B over A in work: above one is faster.
struct SpeedUp {
  double ratio = kNoValue, low = kNoValue, high = kNoValue;
  ChangeVerdict verdict = ChangeVerdict::inconclusive;
  std::string why = {};
};

struct LadderStep {
  std::string name = {};
  double value = kNoValue;
  int ranks = 0;                             // 0: they differ within the step
  SpeedUp individual = {}, cumulative = {};  // the first step has none
  double price = kNoValue;                   // dollars an hour of one device
  double time_s = kNoValue;         // to the target, where that is the metric; else relative: none
  double cost = kNoValue;           // dollars of one run, where prices and a time are known
  double relative_cost = kNoValue;  // devices x time, of the first step's
  std::vector<FactChange> changed = {};  // settings and software, against the step before
};

struct LadderMetric {
  MetricKey key = {};  // ranks are 0
  Json params = Json::object();
  std::vector<LadderStep> steps = {};
};

struct Ladder {
  std::vector<LadderMetric> metrics = {};  // that every step has
  std::vector<std::string> warnings = {};
  /// 1: a step made something slower; 3: no common metric; else 0.
  ExitCode exit_code() const;
};

/// Metrics of workloads are followed across rank counts, as their values are totals over ranks.
Ladder make_ladder(const std::vector<Side>& sides, const CompareOptions& options);

}  // namespace bench
