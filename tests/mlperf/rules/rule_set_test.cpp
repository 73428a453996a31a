#include "mlperf/rules/rule_set.h"

#include <fstream>
#include <string>

#include "core/error.h"
#include "mlperf/rules/rule_set_choice.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

std::string line(const std::string& key, const std::string& value, const std::string& time) {
  return ":::MLLOG {\"namespace\": \"\", \"time_ms\": " + time +
         ", \"event_type\": \"POINT_IN_TIME\", \"key\": \"" + key + "\", \"value\": " + value +
         ", \"metadata\": {}}\n";
}

RuleSetChoice choice(const std::string& benchmark, const std::string& time) {
  static const std::vector<RuleSet> known = load_rule_sets("rulesets");
  const std::string named = benchmark.empty() ? "" : line("submission_benchmark", benchmark, time);
  return choose_rule_set(read_log_text(named + line("run_start", "null", time), "log"), known);
}

std::string refusal_of(const std::string& json) try {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "1.0.0.json") << json;
  load_rule_set(folder.path(), "1.0.0");
  return "";
} catch (const Error& error) {
  return error.what();
}

std::string rules_with(const std::string& sections) {
  return R"({"ruleset": "1.0.0", "round": "r", "source": "s", "sections": )" + sections + "}";
}

}  // namespace

TEST_CASE("each rule set has both divisions of each of its benchmarks") {
  const std::vector<RuleSet> all = load_rule_sets(rule_set_folder());
  REQUIRE(all.size() >= 4);
  for (const RuleSet& rules : all) {
    CHECK(rules.sections.contains("common"));
    for (const auto& [name, benchmark] : rules.benchmarks)
      for (const char* division : {"closed/", "open/"}) {
        INFO(rules.version << " " << division << name);
        CHECK(rules.sections.contains(division + name));
      }
  }
}

TEST_CASE("a rule set contains its base except for removed members") {
  const RuleSet old = load_rule_set("rulesets", "5.0.0");
  const RuleSet rules = load_rule_set("rulesets", "6.0.0");
  CHECK(old.benchmarks.contains("rgat"));
  CHECK_FALSE(rules.benchmarks.contains("rgat"));
  CHECK_FALSE(rules.sections.contains("closed/rgat"));
  CHECK_FALSE(old.sections.at("common").keys.contains("submission_org"));
  CHECK(rules.sections.at("common").keys.contains("submission_org"));
  CHECK(rules.sections.at("closed/gpt_oss_20b").keys.contains("opt_adamw_epsilon"));
  CHECK(rules.benchmarks.at("gpt_oss_20b").target == 3.34);
}

TEST_CASE("a benchmark has an evaluation schedule") {
  const RuleSet rules = load_rule_set("rulesets", "5.1.0");
  const EvaluationSchedule& small = *rules.benchmarks.at("llama31_8b").evaluation;
  CHECK(small.step(36) == 12312.0);
  CHECK(small.start(64) == 12288.0);
  const EvaluationSchedule& tuning = *rules.benchmarks.at("llama2_70b_lora").evaluation;
  CHECK(tuning.step(16) == 384.0);
  CHECK(tuning.start(16) == 1920.0);
  CHECK_FALSE(tuning.start(0).has_value());
}

TEST_CASE("an unknown rule set is rejected with the nearest name") {
  CHECK_THROWS_WITH(load_rule_set("rulesets", "5.1.1"),
                    Catch::Contains("unknown rule set '5.1.1'. Did you mean"));
  CHECK_THROWS_WITH(load_rule_set("rulesets", "../x"), Catch::Contains("unknown rule set"));
}

TEST_CASE("rule sets are listed in the order of their versions, also of very large ones") {
  const TemporaryDirectory folder;
  for (const char* name : {"99999999999", "10.1.0", "9.0.0"})
    std::ofstream(folder.path() / (std::string(name) + ".json")) << "{}";
  CHECK(rule_set_versions(folder.path()) ==
        std::vector<std::string>{"9.0.0", "10.1.0", "99999999999"});
}

TEST_CASE("an invalid rule set is rejected with the position of the error") {
  CHECK(refusal_of(rules_with(R"({"common": {"keys": {"seed": "value >"}}})"))
            .find("/sections/common: key 'seed': expression 'value >', position 8") !=
        std::string::npos);
  CHECK(refusal_of(rules_with(R"({"common": {"keys": {"seed": {"cheque": "1"}}}})"))
            .find("/sections/common/keys/seed") != std::string::npos);
  CHECK(refusal_of(rules_with(R"({"a": {"like": "b"}})")).find("'b', which does not exist") !=
        std::string::npos);
  CHECK(refusal_of(rules_with(R"({"a": {"like": "a"}})")).find("is its own base") !=
        std::string::npos);
  CHECK(refusal_of(R"({"ruleset": "1.0.0", "round": "r", "source": "s", "based_on": "1.0.0"})")
            .find("is circular") != std::string::npos);
  for (const std::string& base : {std::string("3.2.1"), std::string(300, '1') + ".0.0"})
    CHECK(refusal_of(R"({"ruleset": "1.0.0", "round": "r", "source": "s", "based_on": ")" + base +
                     "\"}")
              .find("there is no rule set '" + base) != std::string::npos);
  CHECK(refusal_of(rules_with(R"({"a": {"keys": {"x": {"after": ["1 = 2"]}}}})"))
            .find("expected a name") != std::string::npos);
}

TEST_CASE("the rule set is chosen by benchmark and date") {
  CHECK(choice("\"flux1\"", "1759858994891").version == "5.1.0");
  CHECK(choice("\"flux1\"", "1775000000000").version == "6.0.0");
  CHECK(choice("\"flux1\"", "1790000000000").version == "6.1.0");
  CHECK(choice("\"flux1\"", "1740000000000").version == "5.1.0");  // the first round that has it
  CHECK(choice("\"bert\"", "1790000000000").version == "5.0.0");
  CHECK(choice("\"rgat\"", "1790000000000").version == "5.1.0");
  CHECK(choice("", "1759858994891").version == "5.1.0");
  CHECK(choice("\"none\"", "NaN").version == "6.1.0");
}

TEST_CASE("the choice of a rule set has a reason") {
  CHECK(choice("\"flux1\"", "1759858994891").reason ==
        "flux1 is in 3 rule sets; the run started on 2025-10-07: Training v5.1");
  CHECK(choice("\"bert\"", "1").reason == "bert is in Training v5.0 only");
  CHECK(choice("\"dlrmv4\"", "1800000000000").reason ==
        "dlrmv4 is in Training v6.1 only; the run is newer than these rules, which are those of "
        "mlperf_logging 4.1.68 (2026-10-24)");
  CHECK(choice("\"a\\u001bb\"", "1").reason.find("\\x1b") != std::string::npos);
}

}  // namespace bench::mlperf
