// The goal of a run: its target and the convergence of the reference.
#pragma once

#include "results/mlperf/follow/progress_report.h"
#include "results/mlperf/rcp/rcp_files.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

/// Values that are not logged yet or not in the rules and points stay empty, with the reason.
RunGoal goal_of(const RunFacts& facts, const RuleSet& rules, const RcpSets& points);

}  // namespace bench::mlperf
