// Logs of an earlier round that an organisation resubmits must pass the rules of the new round
// (training_rules: Results Resubmission).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/rules/rule_set_choice.h"

namespace bench::mlperf {

struct LogChoice {
  std::filesystem::path organisation = {};  // its folder; "" for a log outside the layout
  std::string benchmark = {};               // as logged
  RuleSetChoice choice = {};                // by the log itself
};

/// Moves the logs of an organisation to the newest rule set of any of its logs, if that one has
/// their benchmark. `known` is sorted oldest first. Returns the indices of the changed logs.
std::vector<std::size_t> apply_newest_round(std::vector<LogChoice>& logs,
                                         const std::vector<RuleSet>& known);

}  // namespace bench::mlperf
