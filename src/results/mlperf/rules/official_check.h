// The verdict of the official compliance checker (mlcommons/logging 4.1) on a log, to the letter:
// where it passes a log that should not pass, so does this; where it crashes, this says so. What it
// misses is found in results/mlperf/strict.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/finding.h"
#include "results/mlperf/log/log.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

struct OfficialVerdict {
  bool pass = false;
  bool crash = false;             // the official checker ends with a traceback, or never
  std::string first_failed = {};  // the key of the first finding; "" where it has none
  /// Everything the official checker finds, all of it and not the last of each key, at its true
  /// line; behind a crash, what it would find else.
  std::vector<Finding> findings = {};
  std::vector<Finding> warnings = {};  // they fail nothing, unless `werror`
};

OfficialVerdict official_check(const Log& log, const RuleSet& rules, bool werror = false);

}  // namespace bench::mlperf
