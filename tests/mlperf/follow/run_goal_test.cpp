#include "mlperf/follow/follow_log.h"
#include "tests/mlperf/log_lines.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

RunGoal goal_in(const std::string& benchmark, const std::string& batch) {
  std::string text;
  if (!benchmark.empty()) text += log_line("submission_benchmark", '"' + benchmark + '"') + "\n";
  if (!batch.empty()) text += log_line("global_batch_size", batch) + "\n";
  static const RuleSet kRules = load_rule_set(rule_set_folder(), "5.1.0");
  static const RcpSets kPoints = load_rcps(rcp_folder(), "5.1.0");
  return goal_of(facts_of(read_log_text(text, "x")), kRules, kPoints);
}

}  // namespace

TEST_CASE("the goal of a run is the round's target and the reference at its batch") {
  const RunGoal goal = goal_in("llama31_8b", "64");
  CHECK(goal.target == 3.3);
  CHECK(goal.lower_is_better);
  CHECK(goal.progress == "samples_count");
  CHECK(*goal.reference_mean == Approx(226'645.0).margin(1.0));
  CHECK(*goal.reference_mean / *goal.reference_least == Approx(1.0353).margin(1e-4));
  const RunGoal between = goal_in("llama31_8b", "80");
  CHECK(*between.reference_mean > 226'645.0);
  CHECK(*between.reference_mean < 278'641.0);
}

TEST_CASE("the allowance of a benchmark lowers the minimum to pass") {
  const RunGoal goal = goal_in("llama31_405b", "1152");
  CHECK(*goal.reference_mean / (*goal.reference_least + 46'080.0) == Approx(1.0981).margin(1e-4));
}

TEST_CASE("values that are not logged yet leave the goal empty, with a reason") {
  CHECK(goal_in("", "").why_no_target == "the benchmark is not logged yet");
  CHECK(goal_in("flux1", "").why_no_reference == "the global batch size is not logged yet");
  CHECK(goal_in("flux1", "").target.has_value());
  CHECK(goal_in("resnet\\u001b", "").why_no_target ==
        "rule set 5.1.0 has no benchmark 'resnet\\x1b'");
  CHECK(goal_in("flux1", "1e9").why_no_reference ==
        "the batch is larger than that of any reference convergence point");
}

}  // namespace bench::mlperf
