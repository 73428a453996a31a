#include "results/output/mlperf/check_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.h"
#include "core/version.h"
#include "mlperf/check/check_report.h"
#include "mlperf/strict/strict_check.h"
#include "results/output/document/junit.h"

namespace bench::mlperf {
namespace {

// Static Analysis Results Interchange Format, OASIS standard 2.1.0.

/// A URI reference (RFC 3986): relative paths stay relative to where the check ran.
std::string uri(const std::filesystem::path& path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string text = path.is_absolute() ? "file://" : "";
  for (const char c : path.native()) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       kPlain.find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

Json location(const std::filesystem::path& path, const Finding& finding) {
  Json physical = {{"artifactLocation", {{"uri", uri(path)}}}};
  if (finding.line > 0) physical["region"]["startLine"] = finding.line;
  if (finding.line > 0 && finding.column > 0) physical["region"]["startColumn"] = finding.column;
  return {{"physicalLocation", physical}};
}

std::string rule_id(const Finding& finding) {
  return (finding.official ? "official." : "strict.") + finding.rule;
}

std::string message(const Finding& finding) {
  std::string text = finding.text;
  if (!finding.expected.empty()) text += "; expected " + finding.expected;
  if (!finding.found.empty()) text += ", found " + finding.found;
  return text.empty() ? finding.rule : text;
}

class Results {
 public:
  void add(const std::filesystem::path& path, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      add_rule(finding);
      Json result = {{"ruleId", rule_id(finding)},
                     {"level", to_string(finding.severity)},
                     {"message", {{"text", message(finding)}}},
                     {"locations", Json::array({location(path, finding)})}};
      results_.push_back(std::move(result));
    }
  }

  Json rules() const {
    Json list = Json::array();
    for (const auto& [id, rule] : rules_) list.push_back(rule);
    return list;
  }

  const Json& results() const { return results_; }

 private:
  void add_rule(const Finding& finding) {
    const std::string id = rule_id(finding);
    if (rules_.contains(id)) return;
    Json rule = {{"id", id}};
    const auto& known = strict_rules();
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const StrictRule& one) { return one.id == finding.rule; });
    if (!finding.official && at != known.end()) rule["shortDescription"]["text"] = at->text;
    if (!finding.where.empty()) rule["help"]["text"] = finding.where;
    rules_[id] = rule;
  }

  std::map<std::string, Json> rules_;
  Json results_ = Json::array();
};

}  // namespace

Json to_sarif(const CheckReport& report) {
  Results results;
  for (const FileCheck& file : report.files) results.add(file.path, file.findings);
  for (const FolderCheck& folder : report.folders) results.add(folder.path, folder.findings);
  const Json driver = {
      {"name", "benchctl mlperf check"}, {"version", version()}, {"rules", results.rules()}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results.results()}}})}};
}

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

namespace {

struct LocatedFinding {
  const std::filesystem::path* path = nullptr;
  const Finding* finding = nullptr;
};

std::string place(const LocatedFinding& located) {
  std::string text = printable(located.path->native());
  if (located.finding->line > 0) text += fmt::format(":{}", located.finding->line);
  if (located.finding->line > 0 && located.finding->column > 0)
    text += fmt::format(":{}", located.finding->column);
  return text;
}

std::string expectation(const Finding& finding) {
  if (finding.expected.empty() && finding.found.empty()) return "";
  if (finding.found.empty()) return fmt::format("; expected {}", printable(finding.expected));
  if (finding.expected.empty()) return fmt::format("; found {}", printable(finding.found));
  return fmt::format("; expected {}, found {}", printable(finding.expected),
                     printable(finding.found));
}

std::string line_of(const LocatedFinding& located) {
  const Finding& finding = *located.finding;
  return fmt::format("{}: {}: {}{} [{} {}{}{}]\n", place(located), to_string(finding.severity),
                     printable(finding.text), expectation(finding),
                     finding.official ? "official" : "strict", finding.rule,
                     finding.where.empty() ? "" : ", ", printable(finding.where));
}

/// Prints a finding shared by several logs once, with the number of other logs. The found value may
/// differ between logs; the first one is shown.
std::string lines_of(const std::vector<LocatedFinding>& all_findings, bool all) {
  using Kind = std::tuple<std::string, bool, std::string, std::string>;
  std::map<Kind, std::set<std::string>> logs;
  const auto kind = [](const Finding& finding) {
    return Kind{finding.rule, finding.official, finding.key, finding.expected};
  };
  for (const LocatedFinding& located : all_findings)
    logs[kind(*located.finding)].insert(located.path->native());
  std::string text;
  std::map<Kind, std::string> first_log_with;
  for (const LocatedFinding& located : all_findings) {
    const auto [at, is_new] =
        first_log_with.emplace(kind(*located.finding), located.path->native());
    if (!all && !is_new && at->second != located.path->native()) continue;
    text += line_of(located);
    const std::size_t more = logs[kind(*located.finding)].size() - 1;
    if (!all && is_new && more > 0)
      text +=
          fmt::format("    same finding in {} more log{} of this folder (list them with --all)\n",
                      more, more == 1 ? "" : "s");
  }
  return text;
}

std::set<std::string> rule_sets(const std::vector<const FileCheck*>& files) {
  std::set<std::string> versions;
  for (const FileCheck* file : files) versions.insert(file->rule_set);
  return versions;
}

std::string block(const FolderCheck& folder, const std::vector<const FileCheck*>& files, bool all) {
  const auto passing =
      std::count_if(files.begin(), files.end(), [](const FileCheck* file) { return file->pass; });
  const std::set<std::string> versions = rule_sets(files);
  std::string text = fmt::format("{}: {} of {} logs pass ({})\n", printable(folder.path.native()),
                                 passing, files.size(), fmt::join(versions, ", "));
  if (files.empty()) text = printable(folder.path.native()) + ": no result_*.txt\n";
  std::vector<LocatedFinding> located;
  for (const FileCheck* file : files)
    for (const Finding& finding : file->findings) located.push_back({&file->path, &finding});
  for (const Finding& finding : folder.findings) located.push_back({&folder.path, &finding});
  return text + lines_of(located, all);
}

std::string loose_block(const FileCheck& file) {
  std::string text =
      fmt::format("{}: {} ({}: {})\n", printable(file.path.native()), file.pass ? "pass" : "fail",
                  file.rule_set, printable(file.rule_set_reason));
  for (const Finding& finding : file.findings) text += line_of({&file.path, &finding});
  return text;
}

/// The number of logs per rule set, with the reason for the first one.
std::string reasons(const CheckReport& report) {
  std::map<std::string, std::pair<std::size_t, std::string>> by_version;
  for (const FileCheck& file : report.files) {
    const auto [at, is_new] =
        by_version.try_emplace(file.rule_set, 0U, printable(file.rule_set_reason));
    ++at->second.first;
  }
  std::string text;
  for (const auto& [version, judged] : by_version)
    text += fmt::format("rule set {} used for {} log{}{}: {}\n", version, judged.first,
                        judged.first == 1 ? "" : "s", judged.first == 1 ? "" : ", first log",
                        judged.second);
  return text;
}

std::string summary(const CheckReport& report) {
  const CheckCounts counts = counts_of(report);
  std::string text = fmt::format("\nofficial verdict: {} of {} logs pass, {} fail", counts.passed,
                                 counts.files, counts.failed);
  if (counts.crashed > 0)
    text += fmt::format(" ({} of them crash the official checker)", counts.crashed);
  text += "\n";
  if (report.strict)
    text +=
        fmt::format("strict: {} error{}, {} warning{}, {} note{}\n", counts.errors,
                    counts.errors == 1 ? "" : "s", counts.warnings, counts.warnings == 1 ? "" : "s",
                    counts.notes, counts.notes == 1 ? "" : "s");
  return text + reasons(report);
}

}  // namespace

std::string to_text(const CheckReport& report, bool all) {
  std::string text;
  std::vector<std::vector<const FileCheck*>> files(report.folders.size());
  for (const FileCheck& file : report.files)
    if (file.folder) files.at(*file.folder).push_back(&file);
  for (std::size_t i = 0; i < report.folders.size(); ++i)
    text += block(report.folders[i], files[i], all);
  for (const FileCheck& file : report.files)
    if (!file.folder) text += loose_block(file);
  return text + summary(report);
}

}  // namespace bench::mlperf
