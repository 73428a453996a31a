#include "mlperf/strict/strict_check.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/strict/runs_check.h"
#include "tests/mlperf/right_log.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

const RuleSet& rules_of_5_1() {
  static const RuleSet rules = load_rule_set(rule_set_folder(), "5.1.0");
  return rules;
}

struct Surroundings {
  std::string submitter = "acme", folder = "llama31_8b";
  std::optional<std::int64_t> accelerators = 8;
  std::string division = "closed";
};

std::vector<Finding> strict_findings(const RightLog& text, const Surroundings& around = {}) {
  const Log log = read_log_text(text.text(), "result_0.txt");
  const RunFacts facts = facts_of(log);
  return strict_check({.log = log,
                       .facts = facts,
                       .rules = rules_of_5_1(),
                       .submitter = around.submitter,
                       .folder = around.folder,
                       .accelerators = around.accelerators,
                       .division = around.division});
}

std::vector<std::string> broken_rules(const std::vector<Finding>& findings) {
  std::vector<std::string> result;
  for (const Finding& finding : findings) result.push_back(finding.rule);
  return result;
}

using RuleNames = std::vector<std::string>;

struct StrictCase {
  std::string rule;
  Severity severity = Severity::error;
  std::string key;  // key of the reported line
  std::function<void(RightLog&)> spoil;
};

const std::vector<StrictCase> kStrictCases = {
    {"status.run_stop", Severity::error, "run_stop",
     [](RightLog& log) { log.line("run_stop").metadata = R"("status": "aborted")"; }},
    {"status.run_stop", Severity::error, "run_stop",
     [](RightLog& log) { log.line("run_stop").metadata = R"("status": "banana")"; }},
    {"status.run_stop", Severity::error, "run_stop",
     [](RightLog& log) { log.line("run_stop").metadata = R"("status": null)"; }},
    {"time.order", Severity::error, "run_stop",
     [](RightLog& log) { log.line("run_stop").time = log.line("init_start").time; }},
    {"time.order", Severity::error, "run_stop",
     [](RightLog& log) { log.line("run_stop").time = log.line("run_start").time; }},
    {"time.order", Severity::error, "init_stop",
     [](RightLog& log) {
       log.line("init_stop").time = "1760000000000";
       log.line("init_start").time = "1760000000001";
     }},
    {"time.finite", Severity::error, "seed", [](RightLog& log) { log.line("seed").time = "NaN"; }},
    {"time.unit", Severity::warning, "run_start",
     [](RightLog& log) {
       for (const char* key : {"init_start", "init_stop"}) log.line(key).time = "1000000000000";
       log.line("run_start").time = "5000000000000";
       log.line("run_stop").time = "5000000060000";
       log.evaluation(0).time = log.evaluation(1).time = log.evaluation(2).time = "5000000050000";
     }},
    {"time.evaluation", Severity::warning, "eval_accuracy",
     [](RightLog& log) { log.evaluation(0).time = log.line("init_start").time; }},
    {"value.finite", Severity::error, "eval_accuracy",
     [](RightLog& log) { log.evaluation(0).value = "NaN"; }},
    {"value.finite", Severity::error, "opt_base_learning_rate",
     [](RightLog& log) { log.line("opt_base_learning_rate").value = "Infinity"; }},
    {"value.type", Severity::warning, "train_samples",
     [](RightLog& log) { log.line("train_samples").value = "null"; }},
    {"value.type", Severity::warning, "opt_adamw_beta_1",
     [](RightLog& log) { log.line("opt_adamw_beta_1").value = "\"0.9\""; }},
    {"value.type", Severity::warning, "max_steps",
     [](RightLog& log) { log.line("max_steps").value = "true"; }},
    {"value.type", Severity::error, "global_batch_size",
     [](RightLog& log) { log.line("global_batch_size").value = "\"32\""; }},
    {"value.type", Severity::warning, "eval_samples",
     [](RightLog& log) { log.line("eval_samples").value = "1024.5"; }},
    {"value.type", Severity::warning, "max_steps",
     [](RightLog& log) { log.line("max_steps").time = "\"1760000000000\""; }},
    {"value.position", Severity::error, "eval_accuracy",
     [](RightLog& log) {
       log.evaluation(1).metadata = R"("samples_count": 24576, "epoch_num": "2")";
     }},
    {"value.placeholder", Severity::warning, "submission_org",
     [](RightLog& log) { log.line("submission_org").value = "\"SUBMISSION_ORG_PLACEHOLDER\""; }},
    {"value.placeholder", Severity::warning, "submission_platform",
     [](RightLog& log) { log.line("submission_platform").value = "\"<your platform>\""; }},
    {"value.status", Severity::warning, "submission_status",
     [](RightLog& log) { log.line("submission_status").value = "\"basement\""; }},
    {"value.type", Severity::warning, "opt_base_learning_rate",
     [](RightLog& log) {
       log.line("opt_base_learning_rate").value = "-0.0008";
       log.remove("opt_end_learning_rate");
     }},
    {"hyperparameter.fixed", Severity::warning, "opt_end_learning_rate",
     [](RightLog& log) { log.line("opt_end_learning_rate").value = "0.0001"; }},
    {"value.event_type", Severity::warning, "run_start",
     [](RightLog& log) { log.line("run_start").event = "STARTED"; }},
    {"identity.organisation", Severity::warning, "submission_org",
     [](RightLog& log) { log.line("submission_org").value = "\"Other Company\""; }},
    {"identity.order", Severity::warning, "submission_benchmark",
     [](RightLog& log) {
       const LogLine benchmark = log.line("submission_benchmark");
       log.remove("submission_benchmark");
       log.insert("run_stop", benchmark);
     }},
    {"batch.factors", Severity::warning, "global_batch_size",
     [](RightLog& log) { log.line("gradient_accumulation_steps").value = "3"; }},
    {"batch.factors", Severity::warning, "global_batch_size",
     [](RightLog& log) {
       log.append({.key = "local_batch_size", .value = "4", .time = "1760000000000"});
     }},
    {"stop.target", Severity::error, "eval_accuracy",
     [](RightLog& log) { std::swap(log.evaluation(1).value, log.evaluation(2).value); }},
    {"stop.late", Severity::note, "run_stop",
     [](RightLog& log) { log.evaluation(1).value = "3.1"; }},
    {"stop.time", Severity::warning, "run_stop",
     [](RightLog& log) {
       log.line("run_stop").time = std::to_string(std::stoll(log.evaluation(2).time) - 500);
     }},
    {"seed.missing", Severity::error, "", [](RightLog& log) { log.remove("seed"); }},
    {"seed.type", Severity::error, "seed",
     [](RightLog& log) { log.line("seed").value = "\"four\""; }},
    {"seed.several", Severity::note, "seed",
     [](RightLog& log) { log.append({.key = "seed", .value = "12", .time = "1760000000000"}); }},
};

}  // namespace

TEST_CASE("a valid log has no strict finding") {
  CHECK(broken_rules(strict_findings(RightLog())).empty());
  RightLog floats;
  floats.line("gradient_accumulation_steps").value = "2.0";
  floats.line("opt_learning_rate_warmup_steps").value = "-1";
  floats.append({.key = "micro_batch_size", .value = "2", .time = "1760000000000"});
  floats.append({.key = "opt_milestones", .value = "[1, 2]", .time = "1760000000000"});
  for (const char* key : {"tensor_parallelism", "pipeline_parallelism", "context_parallelism"})
    floats.append({.key = key, .value = "1", .time = "1760000000000"});
  CHECK(broken_rules(strict_findings(floats)).empty());
}

TEST_CASE("each violated strict rule is reported alone, at its line") {
  for (const StrictCase& one : kStrictCases) {
    RightLog log;
    one.spoil(log);
    const std::vector<Finding> findings = strict_findings(log);
    INFO(one.rule << " " << one.key);
    CHECK(broken_rules(findings) == RuleNames{one.rule});
    if (findings.empty()) continue;
    CHECK(findings[0].severity == one.severity);
    CHECK_FALSE(findings[0].official);
    CHECK(findings[0].key == one.key);
    CHECK((findings[0].line > 0) == !one.key.empty());
    if (!one.key.empty() && one.key != "eval_accuracy" && one.rule != "batch.factors")
      CHECK(findings[0].line == log.number(one.key));
    CHECK_FALSE(findings[0].text.empty());
    CHECK_FALSE(findings[0].expected.empty());
  }
}

TEST_CASE("each rule in strict findings is listed") {
  for (const StrictCase& one : kStrictCases) {
    const auto& known = strict_rules();
    INFO(one.rule);
    CHECK(std::any_of(known.begin(), known.end(),
                      [&](const StrictRule& rule) { return rule.id == one.rule; }));
  }
}

TEST_CASE("docs/mlperf.md documents each strict rule") {
  const std::string page = read_file("docs/mlperf.md");
  for (const StrictRule& rule : strict_rules()) {
    INFO(rule.id);
    CHECK(page.find("`" + std::string(rule.id) + "`") != std::string::npos);
  }
}

TEST_CASE("a log whose benchmark differs from its benchmark folder is reported") {
  CHECK(broken_rules(strict_findings(RightLog(), {.folder = "flux1"})) ==
        RuleNames{"identity.benchmark"});
  CHECK(broken_rules(strict_findings(RightLog(), {.folder = "my_runs"})).empty());
}

TEST_CASE("a log whose division differs from its system's is reported") {
  CHECK(broken_rules(strict_findings(RightLog(), {.division = "open"})) ==
        RuleNames{"identity.division"});
  CHECK(broken_rules(strict_findings(RightLog(), {.division = ""})).empty());
}

TEST_CASE("fixed hyperparameters of LoRA and 405B are checked, those of others are not") {
  RightLog lora;
  lora.line("submission_benchmark").value = "\"llama2_70b_lora\"";
  lora.remove("eval_accuracy");
  lora.line("opt_adamw_weight_decay").value = "0.0001";
  lora.line("opt_gradient_clip_norm").value = "0.3";
  lora.line("opt_end_learning_rate").value = "0";
  lora.append({.key = "lora_alpha", .value = "32", .time = "1760000000000"});
  CHECK(broken_rules(strict_findings(lora, {.folder = "llama2_70b_lora"})).empty());
  lora.line("lora_alpha").value = "16";
  CHECK(broken_rules(strict_findings(lora, {.folder = "llama2_70b_lora"})) ==
        RuleNames{"hyperparameter.fixed"});
  RightLog large;
  large.line("submission_benchmark").value = "\"llama31_405b\"";
  large.remove("eval_accuracy");
  large.line("global_batch_size").value = "960";
  large.line("opt_end_learning_rate").value = "8e-07";
  large.line("opt_learning_rate_warmup_steps").value = "9600.0";
  CHECK(broken_rules(strict_findings(large, {.folder = "llama31_405b"})).empty());
  large.line("opt_learning_rate_warmup_steps").value = "8000";
  const std::vector<Finding> findings = strict_findings(large, {.folder = "llama31_405b"});
  REQUIRE(broken_rules(findings) == RuleNames{"hyperparameter.fixed"});
  CHECK(findings[0].expected == "ceil(8000 * 1152 / global_batch_size) = 9600");
}

TEST_CASE(
    "no evaluation before run_stop is an error, and none at all is left to the official checker") {
  RightLog log;
  const LogLine late = log.evaluation(0);
  log.remove("eval_accuracy");
  CHECK(broken_rules(strict_findings(log)).empty());
  log.append(late);
  CHECK(broken_rules(strict_findings(log)) == RuleNames{"stop.evaluation"});
}

TEST_CASE("several ranks that log the same evaluation and start are accepted") {
  RightLog log;
  const LogLine start = log.line("run_start"), stop = log.line("init_stop");
  log.insert("block_start", start);
  log.insert("run_stop", log.evaluation(2));
  log.append(log.line("run_stop"));
  log.insert("block_start", stop);
  CHECK(broken_rules(strict_findings(log)).empty());
}

TEST_CASE("a log without MLLOG lines is reported") {
  const Log log = read_log_text("epoch 1 loss 3.2\n", "train.log");
  const RunFacts facts = facts_of(log);
  const std::vector<Finding> findings =
      strict_check({.log = log, .facts = facts, .rules = rules_of_5_1()});
  REQUIRE(broken_rules(findings) == RuleNames{"log.empty"});
  CHECK(findings[0].text.find("has no MLLOG lines") != std::string::npos);
}

TEST_CASE("a fault on each line is reported twenty times and counted") {
  RightLog log;
  for (int i = 0; i < 100; ++i) log.append({.key = "x", .time = "NaN"});
  const std::vector<Finding> findings = strict_findings(log);
  REQUIRE(findings.size() == 20);
  CHECK(findings.back().text.find("80 more for this rule") != std::string::npos);
}

TEST_CASE("closed-division evaluation rules do not apply to the open division") {
  RightLog log;
  log.line("submission_division").value = "\"open\"";
  log.remove("seed");
  std::swap(log.evaluation(1).value, log.evaluation(2).value);
  log.evaluation(0).metadata = R"("samples_count": 1)";
  CHECK(broken_rules(strict_findings(log, {.division = "open"})).empty());
}

TEST_CASE("a seed is what Python's int() accepts") {
  CHECK(seed_text(PythonValue(7)) == "7");
  CHECK(seed_text(PythonValue(7.9)) == "7");
  CHECK(seed_text(PythonValue(" +012 ")) == "12");
  CHECK(seed_text(PythonValue("-0")) == "0");
  CHECK(seed_text(PythonValue("-5")) == "-5");
  CHECK(seed_text(PythonValue(PythonValue::BigInteger{"123456789012345678901"})) ==
        "123456789012345678901");
  CHECK_FALSE(seed_text(PythonValue("0x12")));
  CHECK_FALSE(seed_text(PythonValue()));
}

}  // namespace bench::mlperf
