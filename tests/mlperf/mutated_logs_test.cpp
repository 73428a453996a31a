// 2,400 synthetic logs, each with what the official checker said of it
// (tests/data/mlperf/README.md).
#include <zlib.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/json.h"
#include "results/mlperf/rules/official_check.h"
#include "tests/mlperf/verdict_keys.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

std::string unpacked(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  REQUIRE(file != nullptr);
  std::string text;
  std::string part(1 << 20, '\0');
  while (true) {
    const int count = gzread(file.get(), part.data(), static_cast<unsigned>(part.size()));
    REQUIRE(count >= 0);
    if (count == 0) return text;
    text.append(part, 0, static_cast<std::size_t>(count));
  }
}

/// "" where ours equals the official one's.
std::string difference(const Json& expected, const std::map<std::string, RuleSet>& rule_sets) {
  const RuleSet& rules = rule_sets.at(expected["ruleset"].get<std::string>());
  const Log log = read_log_text(expected["log"].get_ref<const std::string&>(), "log");
  const OfficialVerdict ours = official_check(log, rules, expected["werror"].get<bool>());
  const std::string verdict = ours.crash ? "crash" : ours.pass ? "pass" : "fail";
  if (verdict != expected["verdict"]) return verdict + ", not " + dump(expected["verdict"]);
  if (ours.crash) return "";
  std::set<std::string> keys;
  for (const Json& failure : expected["fails"])
    if (failure["key"].is_string()) keys.insert(failure["key"].get<std::string>());
  return keyed_failures(ours) == keys ? "" : "other keys fail than " + dump(expected["fails"]);
}

}  // namespace

TEST_CASE("synthetic logs get the verdict of the official checker, for the same keys") {
  const std::string all = unpacked("tests/data/mlperf/mutated_logs.jsonl.gz");
  std::map<std::string, RuleSet> rule_sets;
  for (const char* version : {"5.1.0", "6.1.0"})
    rule_sets.emplace(version, load_rule_set("rulesets", version));
  std::map<std::string, int> verdicts;
  for (std::size_t begin = 0, end = 0; (end = all.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const Json expected = Json::parse(std::string_view(all).substr(begin, end - begin));
    ++verdicts[expected["verdict"].get<std::string>()];
    INFO(expected["id"]);
    CHECK(difference(expected, rule_sets) == "");
  }
  CHECK(verdicts["pass"] + verdicts["fail"] + verdicts["crash"] == 2400);
  CHECK(verdicts["crash"] == 132);
}

}  // namespace bench::mlperf
