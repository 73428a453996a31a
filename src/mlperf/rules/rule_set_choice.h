// Chooses the rule set for a log by its benchmark and date.
#pragma once

#include <string>
#include <vector>

#include "mlperf/log/log.h"
#include "mlperf/rules/rule_set.h"

namespace bench::mlperf {

struct RuleSetChoice {
  std::string version = {};
  std::string reason = {};  // "flux1 is in 3 rule sets; the run started on 2025-10-07: ..."
};

/// These rules for `reason`, which also says it if the run is newer than they are.
RuleSetChoice choose_only(const Log& log, const RuleSet& rules, std::string reason);

/// The round that has the log's benchmark and whose period contains its run_start. `known` is
/// sorted oldest first and not empty.
RuleSetChoice choose_rule_set(const Log& log, const std::vector<RuleSet>& known);

}  // namespace bench::mlperf
