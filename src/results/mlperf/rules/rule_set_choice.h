// Which rule set a log is to be judged by when nobody says: by its benchmark and its day.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/log/log.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

struct RuleSetChoice {
  std::string version = {};
  std::string reason = {};  // "run_start on 2025-10-07: round Training v5.1; ..."
};

/// Of the rounds that have the log's benchmark, the one whose time its run_start lies in. `known`
/// is oldest first and not empty.
RuleSetChoice choose_rule_set(const Log& log, const std::vector<RuleSet>& known);

}  // namespace bench::mlperf
