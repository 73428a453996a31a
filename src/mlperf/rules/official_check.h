// Reproduces the verdict of the official compliance checker (mlcommons/logging 4.1) exactly,
// including logs that it passes by mistake; a crash of the checker is reported.
// mlperf/strict finds what it misses.
#pragma once

#include <vector>

#include "mlperf/finding.h"
#include "mlperf/log/log.h"
#include "mlperf/rules/rule_set.h"

namespace bench::mlperf {

struct OfficialVerdict {
  bool pass = false;
  bool crash = false;  // the official checker crashes or never ends
  /// All findings of the official checker, not only the last one per key, at their true lines;
  /// after a crash, also what it would find otherwise.
  std::vector<Finding> findings = {};
  std::vector<Finding> warnings = {};  // failures only with `werror`
};

OfficialVerdict official_check(const Log& log, const RuleSet& rules, bool werror = false);

}  // namespace bench::mlperf
