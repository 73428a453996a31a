// Prints official verdicts in bulk, to compare them with the official checker's. For each line
// "RULESET WERROR PATH" on stdin (WERROR: 0 or 1), prints a line of JSON: the verdict, the failed
// keys, the number of failures without a key, and the number of warnings.
//   mlperf_verdicts [FOLDER]     (of rule sets; default: ours)
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "core/json.h"
#include "mlperf/rules/official_check.h"
#include "tests/mlperf/verdict_keys.h"

using namespace bench;
using namespace bench::mlperf;

namespace {

std::filesystem::path folder;

const RuleSet& rule_set(const std::string& version) {
  static std::map<std::string, RuleSet> loaded;
  const auto known = loaded.find(version);
  if (known != loaded.end()) return known->second;
  return loaded.emplace(version, load_rule_set(folder, version)).first->second;
}

Json answer(const std::string& question) {
  std::istringstream words(question);
  std::string version, werror, path;
  words >> version >> werror;
  std::getline(words >> std::ws, path);
  const OfficialVerdict verdict = official_check(read_log(path), rule_set(version), werror == "1");
  Json texts = Json::array();
  for (const Finding& finding : verdict.findings)
    texts.push_back(finding.rule + ": " + finding.text);
  return {{"verdict", verdict.crash  ? "crash"
                      : verdict.pass ? "pass"
                                     : "fail"},
          {"keys", keyed_failures(verdict)},
          {"others", other_failures(verdict)},
          {"warnings", verdict.warnings.size()},
          {"texts", texts}};
}

}  // namespace

int main(int argc, char** argv) try {
  folder = argc > 1 ? std::filesystem::path(argv[1]) : rule_set_folder();
  std::string line;
  while (std::getline(std::cin, line)) std::cout << dump(answer(line)) << '\n';
  return std::cout.flush() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "mlperf_verdicts: " << error.what() << '\n';
  return 1;
}
