// 3,600 synthetic logs, each with the official checker's verdict (tests/data/mlperf/README.md).
#include <zlib.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/json.h"
#include "mlperf/rules/official_check.h"
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

/// "" if the verdict equals the official one.
std::string difference(const Json& expected, const std::map<std::string, RuleSet>& rule_sets) {
  const RuleSet& rules = rule_sets.at(expected["ruleset"].get<std::string>());
  const Log log = read_log_text(expected["log"].get_ref<const std::string&>(), "log");
  const OfficialVerdict ours = official_check(log, rules, expected["werror"].get<bool>());
  const std::string verdict = ours.crash ? "crash" : ours.pass ? "pass" : "fail";
  if (expected["verdict"] != verdict) return verdict + ", not " + dump(expected["verdict"]);
  if (ours.crash) return "";
  std::set<std::string> keys;
  for (const Json& failure : expected["fails"])
    if (failure["key"].is_string()) keys.insert(failure["key"].get<std::string>());
  return keyed_failures(ours) == keys ? "" : "other keys fail than " + dump(expected["fails"]);
}

/// Checks each log of a file against its recorded verdict; returns the count of each verdict.
std::map<std::string, int> check_all(const std::string& path) {
  static std::map<std::string, RuleSet> rule_sets;
  for (const char* version : {"5.0.0", "5.1.0", "6.0.0", "6.1.0"})
    if (!rule_sets.contains(version))
      rule_sets.emplace(version, load_rule_set("rulesets", version));
  const std::string all = unpacked(path);
  std::map<std::string, int> verdicts;
  for (std::size_t begin = 0, end = 0; (end = all.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const Json expected = Json::parse(std::string_view(all).substr(begin, end - begin));
    ++verdicts[expected["verdict"].get<std::string>()];
    INFO(expected["id"]);
    CHECK(difference(expected, rule_sets) == "");
  }
  return verdicts;
}

using Verdicts = std::map<std::string, int>;

}  // namespace

TEST_CASE("logs with one change get the official checker's verdict, for the same keys") {
  CHECK(check_all("tests/data/mlperf/mutated_logs.jsonl.gz") ==
        Verdicts{{"crash", 132}, {"fail", 1272}, {"pass", 996}});
}

TEST_CASE("logs with several changes, of both divisions, get the official checker's verdict") {
  CHECK(check_all("tests/data/mlperf/changed_logs.jsonl.gz") ==
        Verdicts{{"crash", 163}, {"fail", 504}, {"pass", 533}});
}

}  // namespace bench::mlperf
