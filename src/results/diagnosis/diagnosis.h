// What holds a training up, by the rules of rules.h: each cause with its evidence and what mending
// it can gain at most; what could not be judged, and what would settle it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/diagnosis/observation.h"
#include "results/diagnosis/rules.h"
#include "results/json_fields.h"
#include "results/run_records.h"

namespace bench::diagnosis {

struct Finding {
  Cause cause = Cause::unexplained;
  std::string rule = {};                   // its name in the table
  double share = kNoValue;                 // of T that it holds; NaN where it is no part of T
  std::vector<std::string> evidence = {};  // "data wait 42.1 % (> 5 %): images stall"
  double gain = kNoValue;      // the speed at most, as a factor, when it is mended; NaN: no bound
  std::string gain_text = {};  // how that follows: "1 / (1 - data wait)"; "" where there is none
  std::string experiment = {};
  std::string fix = {};
};

/// A rule that could not be judged, though nothing that is known speaks against it.
struct Unknown {
  std::string rule = {};
  Cause cause = Cause::unexplained;
  std::string why = {};     // what is missing
  std::string settle = {};  // what would settle it
};

struct Diagnosis {
  /// The first cause by the order of the rules. Nothing where no rule holds.
  std::optional<Finding> bottleneck = {};
  /// All causes in the order of the rules, the bottleneck first.
  std::vector<Finding> all = {};
  /// The bottleneck when that one is mended. Nothing where the measurement cannot be believed, the
  /// hardware is broken, or nothing else holds.
  std::optional<Finding> next = {};
  std::vector<Unknown> not_judged = {};  // in the order of the rules

  /// Nothing but work was found: passes and updates are what takes the time.
  bool healthy() const;
};

/// Pure and deterministic.
Diagnosis diagnose(const Observation& observation);

struct Diagnosed {
  Observation observation = {};
  Diagnosis diagnosis = {};
};

/// What a run says of its trainings, of loaders with a step, and of checkpoints: one for each case
/// (repeats are put together) and length of step, in the order of the plan. Empty for other runs.
std::vector<Observation> observe(const RunRecords& run);
std::vector<Diagnosed> diagnose_run(const RunRecords& run);

}  // namespace bench::diagnosis
