// Bottlenecks of a training, by the rules of rules.h: each cause with evidence and potential gain,
// and the rules that could not be evaluated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "results/run/run_records.h"
#include "results/verdicts/diagnosis/observation.h"
#include "results/verdicts/diagnosis/rules.h"

namespace bench::diagnosis {

// The step time after removing one cause: Amdahl's law.

/// Share of `ceiling.share` that a fix removes, 0..1; NaN if unbounded.
double removed_part(const Ceiling& ceiling, const Observation& observation);

/// Maximum speedup factor; NaN if unbounded.
double gain(const Ceiling& ceiling, const Observation& observation);

/// The step after fixing the cause of `rule`: its part of T is removed and the other shares grow.
/// Other measures of that part become unknown.
Observation after_fix(const Observation& observation, const Rule& rule);

struct Finding {
  Cause cause = Cause::unexplained;
  std::string rule = {};                   // its name in the table
  double share = kNoValue;                 // of T; NaN if it is not a part of T
  std::vector<std::string> evidence = {};  // "data wait 42.1 % (> 5 %): images stall"
  double gain = kNoValue;                  // maximum speedup factor once fixed; NaN: unbounded
  std::string gain_text = {};              // derivation: "1 / (1 - data wait)"; "" if none
  std::string experiment = {};
  std::string fix = {};
};

/// A rule that could not be evaluated and is not ruled out.
struct Unknown {
  std::string rule = {};
  Cause cause = Cause::unexplained;
  std::string why = {};     // what is missing
  std::string settle = {};  // how to obtain it
};

struct Diagnosis {
  /// The first cause in rule order; nothing if no rule holds.
  std::optional<Finding> bottleneck = {};
  /// All causes in the order of the rules, the bottleneck first.
  std::vector<Finding> all = {};
  /// The bottleneck once that one is fixed. Nothing if the measurement is invalid, the hardware is
  /// faulty, or nothing else holds.
  std::optional<Finding> next = {};
  std::vector<Unknown> not_judged = {};  // in the order of the rules

  /// Whether time goes only into compute: passes and updates.
  bool healthy() const;
};

/// Pure and deterministic.
Diagnosis diagnose(const Observation& observation);

struct Diagnosed {
  Observation observation = {};
  Diagnosis diagnosis = {};
};

/// Observations of trainings, loaders with steps, and checkpoints in a run: one per case (repeats
/// merged) and step time, in plan order. Empty for other runs.
std::vector<Observation> observe(const RunRecords& run);
std::vector<Diagnosed> diagnose_run(const RunRecords& run);

}  // namespace bench::diagnosis
