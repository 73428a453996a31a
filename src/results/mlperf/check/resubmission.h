// Logs of an earlier round that an organisation submits again are judged by the rules of the round
// that it submits to (training_rules: Results Resubmission).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/rules/rule_set_choice.h"

namespace bench::mlperf {

struct LogChoice {
  std::filesystem::path organisation = {};  // its folder; "" for a log that stands alone
  std::string benchmark = {};               // as the log names it
  RuleSetChoice choice = {};                // by the log itself
};

/// Takes logs of an organisation to the newest rule set that any of its logs has, where that one
/// knows their benchmark. `known` is oldest first. Returns the indices of the changed ones.
std::vector<std::size_t> apply_newest_round(std::vector<LogChoice>& logs,
                                         const std::vector<RuleSet>& known);

}  // namespace bench::mlperf
