#include "mlperf/rules/official_check.h"

#include <map>
#include <string>
#include <vector>

#include "tests/mlperf/training_log.h"
#include "tests/mlperf/verdict_keys.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

OfficialVerdict verdict_of(const TrainingLog& log, const char* version = "5.1.0",
                           bool werror = false) {
  static std::map<std::string, RuleSet> rule_sets;
  const auto rules = rule_sets.try_emplace(version, load_rule_set("rulesets", version)).first;
  return official_check(read_log_text(log.text(), "log"), rules->second, werror);
}

using Keys = std::set<std::string>;

}  // namespace

TEST_CASE("a valid log passes") {
  CHECK(verdict_of(lora_log()).pass);
  CHECK(verdict_of(lora_log(), "6.0.0").pass);
  CHECK(verdict_of(lora_log()).findings.empty());
}

TEST_CASE("from 6.1 on a log discloses its precisions, its splits and its configuration") {
  TrainingLog log = lora_log();
  const OfficialVerdict without = verdict_of(log, "6.1.0");
  CHECK_FALSE(without.pass);
  CHECK(without.findings.size() == 9);
  for (const char* part : {"linear", "attn", "comm"})
    log.add(std::string("lowest_numerical_precision_in_") + part, "\"mxfp6\"");
  for (const char* key : {"tensor_parallelism", "pipeline_parallelism", "context_parallelism",
                          "expert_parallelism", "micro_batch_size"})
    log.add(key, "1");
  log.add("config_filename", "\"config.sh\"");
  CHECK(verdict_of(log, "6.1.0").pass);
  CHECK_FALSE(verdict_of(log, "6.0.0").pass);  // did not know mxfp6
  log.set("tensor_parallelism", "0");
  CHECK_FALSE(verdict_of(log, "6.1.0").pass);
}

TEST_CASE("all failures are found, each at its line") {
  TrainingLog log = lora_log();
  log.set("lora_rank", "8");
  log.remove("lora_alpha");
  log.set("eval_accuracy", "2.0");
  const OfficialVerdict verdict = verdict_of(log);
  CHECK_FALSE(verdict.pass);
  CHECK_FALSE(verdict.crash);
  REQUIRE(verdict.findings.size() == 3);
  CHECK(verdict.findings[0].rule == "required.lora_alpha");
  CHECK(verdict.findings[0].line == 0);
  const Finding& rank = verdict.findings[1];
  CHECK(rank.rule == "check.lora_rank");
  CHECK(rank.line == log.line_of("lora_rank"));
  CHECK(rank.column == 1);
  CHECK(rank.expected == "16");
  CHECK(rank.found == "8");
  CHECK(rank.official);
  CHECK(rank.where == "training rules, Hyperparameters");
  const Finding& target = verdict.findings[2];
  CHECK(target.rule == "target.eval_accuracy");
  CHECK(target.expected == "at most 0.925 and more than 0.0, at least once");
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK(verdict.findings.front().key == "lora_alpha");
}

TEST_CASE("all wrong lines of one key are found") {
  TrainingLog log = lora_log();
  log.set("init_stop", "null", R"({"file": "x"})", 1'000'001 + 1'800'005);
  log.add_behind("run_stop", "init_stop", "null");
  const OfficialVerdict verdict = verdict_of(log);
  CHECK(keyed_failures(verdict) == Keys{"init_stop"});
  CHECK(verdict.findings.size() >= 2);
}

TEST_CASE("initialisation must stay below the division's limit") {
  TrainingLog log = lora_log();
  log.set("init_stop", "null", "{}", 1'000'001 + 1'799'999);
  CHECK(verdict_of(log).pass);
  log.set("init_stop", "null", "{}", 1'000'001 + 1'800'000);
  const OfficialVerdict verdict = verdict_of(log);
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].found == "30.0 minutes");
  log.set("submission_division", "\"open\"");
  CHECK(keyed_failures(verdict_of(log)).count("init_stop") == 0);
}

TEST_CASE("benchmark rules replace common rules for the same key") {
  TrainingLog log = lora_log();
  log.set("gradient_accumulation_steps", "-1");
  CHECK(verdict_of(log).pass);
  log.set("train_samples", "\"\"");
  CHECK(keyed_failures(verdict_of(log)) == Keys{"train_samples"});
}

TEST_CASE("repeated equal lines of a key required once are a warning, a failure with --werror") {
  TrainingLog log = lora_log();
  log.add_behind("lora_rank", "lora_rank", "16.0");
  const OfficialVerdict verdict = verdict_of(log);
  CHECK(verdict.pass);
  REQUIRE(verdict.warnings.size() == 1);
  CHECK(verdict.warnings[0].line == log.line_of("lora_rank") + 1);
  CHECK(verdict.warnings[0].severity == Severity::warning);
  CHECK_FALSE(verdict_of(log, "5.1.0", true).pass);
}

TEST_CASE("repeated unequal lines of a key required once fail") {
  TrainingLog log = lora_log();
  log.add_behind("train_samples", "train_samples", "3901.5");
  const OfficialVerdict verdict = verdict_of(log);
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].rule == "required.train_samples");
  CHECK(verdict.findings[0].found == "2 lines, this one: 3901.5");
}

TEST_CASE("one of two alternative keys is enough, and one finding reports that both are missing") {
  TrainingLog log = lora_log();
  log.remove("block_start");
  log.remove("eval_start");
  const OfficialVerdict verdict = verdict_of(log);
  std::vector<std::string> rules;
  for (const Finding& finding : verdict.findings) rules.push_back(finding.rule);
  CHECK(rules == std::vector<std::string>{"required.block_start_or_epoch_start",
                                          "required.eval_start_or_block_start"});
}

TEST_CASE("a crash of the official checker is a finding at its line") {
  TrainingLog log = lora_log();
  log.set("eval_accuracy", "\"0.9\"");
  OfficialVerdict verdict = verdict_of(log);
  CHECK(verdict.crash);
  CHECK_FALSE(verdict.pass);
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].rule == "crash.eval_accuracy");
  CHECK(verdict.findings[0].line == log.line_of("eval_accuracy"));

  log = lora_log();
  log.set("submission_benchmark", "\"llama2_70b_lore\"");
  verdict = verdict_of(log);
  CHECK(verdict.crash);
  CHECK(verdict.findings.back().text.find("Did you mean 'llama2_70b_lora'?") != std::string::npos);

  for (const char* division :
       {"null", "\"banana\"", "[]", "\"\"", "\"common\"", "\"closed/flux1\""}) {
    log = lora_log();
    log.set("submission_division", division);
    INFO(division);
    CHECK(verdict_of(log).crash);
  }
}

TEST_CASE("metadata that is not an object fails without a crash") {
  TrainingLog log = lora_log();
  for (const char* metadata : {"null", "3", "[]", "{}"}) {
    log.set("run_stop", "null", metadata);
    INFO(metadata);
    CHECK(keyed_failures(verdict_of(log)) == Keys{"run_stop"});
  }
  log.set("run_stop", "null", R"(["status"])");
  CHECK(verdict_of(log).pass);
}

TEST_CASE("a log without MLLOG lines fails") {
  const OfficialVerdict verdict =
      official_check(read_log_text("epoch 1\n", "log"), load_rule_set("rulesets", "5.1.0"));
  CHECK_FALSE(verdict.pass);
  CHECK_FALSE(verdict.crash);
  CHECK(verdict.findings[0].rule == "parse.empty");
}

TEST_CASE("a root of a negative batch size crashes the checker, which cannot print it") {
  TrainingLog log = lora_log();
  log.set("submission_benchmark", "\"qwen35_397b_grpo\"");
  log.add_behind("submission_benchmark", "opt_base_learning_rate", "1e-6");
  log.set("global_batch_size", "256");
  CHECK_FALSE(verdict_of(log, "6.1.0").crash);
  log.set("global_batch_size", "-256");
  CHECK(verdict_of(log, "6.1.0").crash);
}

TEST_CASE("Stable Diffusion's two metrics are checked as one line per evaluation") {
  TrainingLog log = lora_log();
  log.set("submission_benchmark", "\"stable_diffusion\"");
  for (const char* key : {"opt_name", "opt_adamw_beta_1", "opt_adamw_beta_2", "opt_adamw_epsilon",
                          "opt_learning_rate_warmup_steps"})
    log.add_behind("submission_benchmark", key, "0");
  log.set("opt_name", "\"adamw\"");
  log.set("opt_adamw_beta_1", "0.9");
  log.set("opt_adamw_beta_2", "0.999");
  log.set("opt_adamw_epsilon", "1e-08");
  log.set("opt_adamw_weight_decay", "0.01");
  const auto evaluate = [&](const char* samples, const char* metric, const char* value) {
    log.add_behind(
        "block_start", "eval_accuracy", value,
        std::string("{\"samples_count\": ") + samples + ", \"metric\": \"" + metric + "\"}");
  };
  log.remove("eval_accuracy");
  evaluate("512", "FID", "120.0");
  evaluate("512", "CLIP", "0.16");
  evaluate("1024", "FID", "89.0");
  CHECK(verdict_of(log, "5.0.0").crash);  // FID meets its target, CLIP is missing
  evaluate("1024.0", "CLIP", "0.16");
  CHECK(verdict_of(log, "5.0.0").pass);
  log.set("eval_accuracy", "200.0");
  CHECK_FALSE(verdict_of(log, "5.0.0").pass);
}

}  // namespace bench::mlperf
