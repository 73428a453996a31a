#include <fmt/format.h>

#include <string>
#include <vector>

#include "mlperf/rules/rule_set.h"
#include "mlperf/strict/strict_check.h"
#include "tests/mlperf/right_log.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

/// The strict findings for evaluations at these points; the last one reaches the target.
std::vector<Finding> evaluated_at(const std::string& benchmark, double batch,
                                  const std::string& unit, const std::vector<double>& points,
                                  const std::string& target, const std::string& version = "5.1.0") {
  RightLog log;
  log.line("submission_benchmark").value = "\"" + benchmark + "\"";
  log.line("global_batch_size").value = fmt::format("{}", batch);
  const std::string time = log.evaluation(0).time;
  for (const char* key :
       {"eval_accuracy", "eval_start", "gradient_accumulation_steps", "opt_end_learning_rate",
        "opt_learning_rate_warmup_steps", "opt_gradient_clip_norm", "opt_adamw_weight_decay"})
    log.remove(key);
  for (const double point : points)
    log.insert("run_stop", {.key = "eval_accuracy",
                            .value = point == points.back() ? target : "0.9999",
                            .metadata = fmt::format("\"{}\": {}", unit, point),
                            .time = time});
  const Log read = read_log_text(log.text(), "result_0.txt");
  const RunFacts facts = facts_of(read);
  const RuleSet rules = load_rule_set(rule_set_folder(), version);
  std::vector<Finding> findings =
      strict_check({.log = read, .facts = facts, .rules = rules, .folder = benchmark});
  std::erase_if(findings, [](const Finding& finding) { return finding.rule == "stop.late"; });
  return findings;
}

}  // namespace

TEST_CASE("evaluations on schedule pass") {
  CHECK(evaluated_at("llama31_8b", 32, "samples_count", {12288, 24576}, "3.1").empty());
  CHECK(evaluated_at("llama2_70b_lora", 8, "samples_count", {1536, 1920, 2304}, "0.9").empty());
  CHECK(evaluated_at("rgat", 32768, "epoch_num", {0.05, 0.1, 0.15}, "0.73").empty());
  CHECK(evaluated_at("retinanet", 256, "epoch_num", {0, 1, 2, 3}, "0.35").empty());
  CHECK(evaluated_at("retinanet", 256, "epoch_num", {1, 2}, "0.35").empty());
  // A schedule that restarts with each epoch, as with large batches.
  CHECK(evaluated_at("rgat", 262144, "epoch_num",
                     {0.05, 0.1, 0.15, 0.2, 0.24, 0.29, 0.34, 0.39, 0.4, 0.45}, "0.73")
            .empty());
  CHECK(evaluated_at("dlrm_dcnv2", 55296, "epoch_num", {0.04998088, 0.09997495, 0.149969}, "0.803")
            .empty());
}

TEST_CASE("evaluations off schedule are reported with the found and the expected schedule") {
  const std::vector<Finding> sparse =
      evaluated_at("llama31_8b", 32, "samples_count", {24576, 49152}, "3.1");
  REQUIRE(sparse.size() == 1);
  CHECK(sparse[0].rule == "schedule.evaluation");
  CHECK(sparse[0].severity == Severity::warning);
  CHECK(sparse[0].expected == "after 12288 samples, then every 12288");
  CHECK(sparse[0].found == "after 24576 samples, then every 24576");
  const std::vector<Finding> uneven =
      evaluated_at("llama31_405b", 1152, "samples_count", {276480, 294912, 306432}, "5.5");
  REQUIRE(uneven.size() == 1);
  CHECK(uneven[0].found == "after 276480 samples, then in steps of 11520 to 18432");
  CHECK(evaluated_at("llama31_405b", 1152, "samples_count", {46080, 92160}, "5.5").size() == 1);
  CHECK(
      evaluated_at("llama31_405b", 1152, "samples_count", {46080, 92160}, "5.5", "5.0.0").empty());
  CHECK(evaluated_at("rgat", 32768, "epoch_num", {0.05, 0.15}, "0.73").size() == 1);
  CHECK(evaluated_at("rgat", 32768, "epoch_num", {0.01, 0.02, 0.03, 0.04}, "0.73").size() == 1);
  CHECK(evaluated_at("retinanet", 256, "epoch_num", {1, 3}, "0.35").size() == 1);
  CHECK(evaluated_at("retinanet", 256, "epoch_num", {2, 3}, "0.35").size() == 1);
}

TEST_CASE("an evaluation on schedule with a wrong sample count is reported as such") {
  RightLog log;
  log.evaluation(0).metadata = R"("samples_count": 12256)";
  log.evaluation(1).metadata = R"("samples_count": 24544)";
  log.evaluation(2).metadata = R"("samples_count": 36832)";
  const Log read = read_log_text(log.text(), "result_0.txt");
  const RunFacts facts = facts_of(read);
  const RuleSet rules = load_rule_set(rule_set_folder(), "5.1.0");
  const auto findings = strict_check({.log = read, .facts = facts, .rules = rules});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == "schedule.samples_count");
  CHECK(findings[0].text.find("eval_start has 12288, but its eval_accuracy has 12256") !=
        std::string::npos);
}

}  // namespace bench::mlperf
