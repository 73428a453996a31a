#include "results/mlperf/follow/run_goal.h"

#include "core/text.h"

namespace bench::mlperf {
namespace {

std::string quoted(const std::string& benchmark) { return PythonValue(benchmark).excerpt(); }

void set_target(RunGoal& goal, const RunFacts& facts, const RuleSet& rules) {
  const auto found = rules.benchmarks.find(facts.benchmark);
  if (facts.benchmark.empty()) {
    goal.why_no_target = "the benchmark is not logged yet";
  } else if (found == rules.benchmarks.end()) {
    goal.why_no_target =
        "rule set " + rules.version + " has no benchmark " + quoted(facts.benchmark);
  } else {
    goal.target = found->second.target;
    goal.lower_is_better = found->second.lower_is_better;
    goal.progress = found->second.progress;
    if (!goal.target) goal.why_no_target = "the rules have no single target for this benchmark";
  }
}

void set_reference(RunGoal& goal, const RunFacts& facts, const RcpSets& points) {
  const auto set = points.find(facts.benchmark);
  if (set == points.end()) {
    goal.why_no_reference = "no reference convergence points";
  } else if (!facts.global_batch_size) {
    goal.why_no_reference = "the global batch size is not logged yet";
  } else if (const RcpReference found = reference_at(set->second, *facts.global_batch_size);
             found.point) {
    goal.reference_mean = found.point->mean;
    goal.reference_least = found.point->minimum - set->second.allowance;
  } else {
    goal.why_no_reference = "the batch is larger than that of any reference convergence point";
  }
}

}  // namespace

RunGoal goal_of(const RunFacts& facts, const RuleSet& rules, const RcpSets& points) {
  RunGoal goal;
  set_target(goal, facts, rules);
  set_reference(goal, facts, points);
  return goal;
}

}  // namespace bench::mlperf
