// What `mlperf explain` says of findings, and whether the list of strict checks is whole.
#include "results/output/mlperf/explanation.h"

#include <filesystem>
#include <regex>
#include <set>

#include "core/whole_file.h"
#include "mlperf/strict/strict_check.h"
#include "results/output/document/terminal.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

/// IDs that the sources give to findings: quoted words with a point, next to a severity.
std::set<std::string> ids_in_sources() {
  std::set<std::string> ids;
  const std::regex id(
      "\"((?:status|time|stop|schedule|value|hyperparameter|identity|batch|seed|runs|"
      "copy|scaling|folder|log)\\.[a-z_]+)\"");
  for (const char* folder : {"src/mlperf/strict", "src/mlperf/check"})
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string whole = read_file(file.path());
      const std::string text = whole.substr(0, whole.find("strict_rules() {"));  // not the list
      for (std::sregex_iterator found(text.begin(), text.end(), id), end; found != end; ++found)
        ids.insert((*found)[1]);
    }
  return ids;
}

}  // namespace

TEST_CASE("every strict finding is in the catalogue, and nothing else") {
  std::set<std::string> listed;
  for (const StrictRule& rule : strict_rules()) CHECK(listed.insert(std::string(rule.id)).second);
  CHECK(listed == ids_in_sources());
}

TEST_CASE("the page on MLPerf names every strict finding") {
  const std::string page = read_file("docs/mlperf.md");
  for (const StrictRule& rule : strict_rules()) {
    INFO(rule.id);
    CHECK(page.find("`" + std::string(rule.id) + "`") != std::string::npos);
  }
}

TEST_CASE("an explanation says what each rule set asks of a key, and knows strict findings") {
  const auto rule_sets = load_rule_sets(rule_set_folder());
  const auto words = [&](std::string_view id) {
    const auto found = explanation(id, rule_sets);
    return found ? to_terminal(*found, TextStyle{.width = 200}) : std::string();
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(words("stop.target"), Contains("reaches the target"));
  CHECK_THAT(words("eval_accuracy"), Contains("6.1.0") && Contains("5.1.0"));
  CHECK_THAT(words("check.global_batch_size"), Contains("passes the official checker's test"));
  CHECK_THAT(words("parse.line"), Contains("can read the log"));
  CHECK(words("check.nothing_of_the_kind").empty());
  CHECK(words("nothing").empty());
}

}  // namespace bench::mlperf
