#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "results/junit.h"
#include "results/mlperf/check/check_report.h"

namespace bench::mlperf {
namespace {

struct Suite {
  std::string name = {};
  std::string cases = {};
  std::size_t tests = 0, failures = 0;
};

std::string finding_text(const Finding& finding) {
  return fmt::format("{}:{}: {}: {} (expected {}, found {}) [{}]\n", finding.line, finding.column,
                     to_string(finding.severity), finding.text, finding.expected, finding.found,
                     finding.rule);
}

void add_case(Suite& suite, const std::string& kind, const std::string& name, double minutes,
              bool pass, const std::string& message, const std::string& details) {
  ++suite.tests;
  suite.failures += pass ? 0U : 1U;
  suite.cases +=
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", xml_text(kind),
                  xml_text(name), std::isfinite(minutes) && minutes > 0 ? minutes * 60 : 0.0);
  if (pass && details.empty()) {
    suite.cases += "/>\n";
    return;
  }
  suite.cases += ">\n";
  suite.cases += pass ? fmt::format("      <system-out>{}</system-out>\n", xml_text(details))
                      : fmt::format("      <failure message=\"{}\">{}</failure>\n",
                                    xml_text(message), xml_text(details));
  suite.cases += "    </testcase>\n";
}

/// Findings of the official or the strict check, and the first error.
struct Side {
  std::string details = {};
  bool error = false;
  std::string first = {};
};

Side side_of(const std::vector<Finding>& findings, bool official) {
  Side side;
  for (const Finding& finding : findings) {
    if (finding.official != official) continue;
    side.details += finding_text(finding);
    if (finding.severity != Severity::error || side.error) continue;
    side.error = true;
    side.first = finding.text;
  }
  return side;
}

void add_file(Suite& suite, const CheckReport& report, const FileCheck& file) {
  const std::string name = file.path.native();
  const Side official = side_of(file.findings, true);
  add_case(suite, "official " + file.rule_set, name, file.minutes, file.pass,
           official.first.empty() ? "fails" : official.first, official.details);
  if (!report.strict) return;
  const Side strict = side_of(file.findings, false);
  add_case(suite, "strict", name, 0.0, !strict.error, strict.first, strict.details);
}

}  // namespace

std::string to_junit(const CheckReport& report) {
  std::vector<Suite> suites(report.folders.size() + 1);
  for (std::size_t i = 0; i < report.folders.size(); ++i) {
    suites[i].name = report.folders[i].path.native();
    if (report.folders[i].findings.empty()) continue;
    const Side strict = side_of(report.folders[i].findings, false);
    add_case(suites[i], "folder", suites[i].name, 0.0, !strict.error, strict.first, strict.details);
  }
  suites.back().name = "logs";
  for (const FileCheck& file : report.files)
    add_file(suites[file.folder.value_or(report.folders.size())], report, file);
  std::string text;
  std::size_t tests = 0, failures = 0;
  for (const Suite& suite : suites) {
    if (suite.tests == 0) continue;
    tests += suite.tests;
    failures += suite.failures;
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\">\n{}"
        "  </testsuite>\n",
        xml_text(suite.name), suite.tests, suite.failures, suite.cases);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" "
      "errors=\"0\" skipped=\"0\">\n{}</testsuites>\n",
      tests, failures, text);
}

}  // namespace bench::mlperf
