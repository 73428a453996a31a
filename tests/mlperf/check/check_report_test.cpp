#include "mlperf/check/check_report.h"

#include <string>
#include <vector>

#include "core/json.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/check_output.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

Finding made_finding(const std::string& rule, Severity severity, bool official, std::int64_t line) {
  return {.rule = rule,
          .severity = severity,
          .official = official,
          .line = line,
          .column = line > 0 ? 4 : 0,
          .key = "k",
          .expected = "one",
          .found = "two",
          .text = "is wrong",
          .where = "closed_common"};
}

/// Two logs in a folder with the same warning; the second log fails.
CheckReport small_check_report() {
  CheckReport report;
  report.folders.push_back({"r/acme/results/s/b", "acme", "s", "b", {}});
  for (const char* name : {"result_0.txt", "result_1.txt"})
    report.files.push_back({.path = report.folders[0].path / name,
                            .folder = 0,
                            .rule_set = "5.1.0",
                            .rule_set_reason = "asked for",
                            .pass = true,
                            .benchmark = "b",
                            .minutes = 2.5,
                            .findings = {made_finding("value.type", Severity::warning, false, 7)}});
  report.files[1].pass = false;
  report.files[1].findings.push_back(made_finding("required.run_stop", Severity::error, true, 0));
  return report;
}

std::size_t occurrences_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("the verdict fails for an official failure or a strict error, not for a warning") {
  CheckReport report = small_check_report();
  CHECK_FALSE(passed(report));
  CHECK(counts_of(report).failed == 1);
  CHECK(counts_of(report).warnings == 2);
  CHECK(counts_of(report).errors == 0);
  report.files.pop_back();
  CHECK(passed(report));
  report.files[0].findings[0].severity = Severity::error;
  CHECK_FALSE(passed(report));
  report.files.clear();
  CHECK_FALSE(passed(report));
}

TEST_CASE("text has positions for editors and prints shared findings once") {
  const std::string text = to_terminal(to_document(small_check_report(), false), {});
  CHECK(text.find("r/acme/results/s/b: 1 of 2 logs pass (5.1.0)\n") != std::string::npos);
  CHECK(text.find("\nr/acme/results/s/b/result_0.txt:7:4: warning: is wrong; expected one, found "
                  "two [strict value.type, closed_common]\n") != std::string::npos);
  CHECK(text.find("same finding in 1 more log of this folder") != std::string::npos);
  CHECK(text.find("\nr/acme/results/s/b/result_1.txt: error: is wrong") != std::string::npos);
  CHECK(text.find("official verdict: 1 of 2 logs pass, 1 fail\n") != std::string::npos);
  CHECK(occurrences_in(text, ":7:4:") == 1);
  CHECK(occurrences_in(to_terminal(to_document(small_check_report(), true), {}), ":7:4:") == 2);
}

TEST_CASE("pages and Markdown have the verdict, the findings and their positions") {
  const Document document = to_document(small_check_report(), false);
  for (const std::string& text : {to_page(document), to_markdown(document)}) {
    CHECK(text.find("FAIL") != std::string::npos);
    CHECK(text.find(".txt:7:4: ") != std::string::npos);
    CHECK(text.find("is wrong; expected one, found two") != std::string::npos);
    CHECK(text.find("same finding in 1 more log of this folder") != std::string::npos);
    CHECK(text.find("official verdict: 1 of 2 logs pass, 1 fail") != std::string::npos);
  }
}

TEST_CASE("hostile log content does not reach the terminal") {
  CheckReport report = small_check_report();
  report.files[0].path = "a\x1b[2J";
  report.files[0].findings[0].found = "\x1b]0;x\x07";
  const std::string text = to_terminal(to_document(report, true), {}) + to_junit(report);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
}

TEST_CASE("JSON matches its schema") {
  const Schema schema = Schema::load(schema_path("report_mlperf_check"));
  const Json json = to_json(small_check_report());
  CHECK_NOTHROW(schema.check(json, "report"));
  CHECK(json["files"][1]["official"] == "fail");
  CHECK(json["files"][0]["findings"][0]["line"] == 7);
  CHECK(json["files"][0]["submitter"] == "acme");
}

TEST_CASE("JUnit has an official and a strict case for each log, and no false failures") {
  const std::string xml = to_junit(small_check_report());
  CHECK(xml.find("<testsuites tests=\"4\" failures=\"1\"") != std::string::npos);
  CHECK(occurrences_in(xml, "<testcase ") == 4);
  CHECK(occurrences_in(xml, "<failure ") == 1);
  CHECK(occurrences_in(xml, "classname=\"official 5.1.0\"") == 2);
  CheckReport compat = small_check_report();
  compat.strict = false;
  CHECK(occurrences_in(to_junit(compat), "<testcase ") == 2);
}

TEST_CASE("SARIF places each result and names its rule") {
  CheckReport report = small_check_report();
  report.files[1].path = "/a b/100%.txt";
  const Json sarif = to_sarif(report);
  CHECK(sarif["version"] == "2.1.0");
  const Json& results = sarif["runs"][0]["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["ruleId"] == "strict.value.type");
  CHECK(results[0]["level"] == "warning");
  const Json& place = results[0]["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "r/acme/results/s/b/result_0.txt");
  CHECK(place["region"] == Json{{"startLine", 7}, {"startColumn", 4}});
  const Json& whole = results[2]["locations"][0]["physicalLocation"];
  CHECK(whole["artifactLocation"]["uri"] == "file:///a%20b/100%25.txt");
  CHECK_FALSE(whole.contains("region"));
  CHECK(sarif["runs"][0]["tool"]["driver"]["rules"].size() == 2);
}

}  // namespace bench::mlperf
