#include "results/output/mlperf/check_output.h"

#include <fmt/format.h>

#include <algorithm>
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
    const bool plain = is_digit(c) || is_letter(c) || kPlain.find(c) != std::string_view::npos;
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

Json rule_json(const Finding& finding) {
  Json rule = {{"id", rule_id(finding)}};
  const auto& known = strict_rules();
  const auto at = std::ranges::find(known, finding.rule, &StrictRule::id);
  if (!finding.official && at != known.end()) rule["shortDescription"]["text"] = at->text;
  if (!finding.where.empty()) rule["help"]["text"] = finding.where;
  return rule;
}

Json result_json(const std::filesystem::path& path, const Finding& finding) {
  return {{"ruleId", rule_id(finding)},
          {"level", to_string(finding.severity)},
          {"message", {{"text", message(finding)}}},
          {"locations", Json::array({location(path, finding)})}};
}

}  // namespace

Json to_sarif(const CheckReport& report) {
  std::map<std::string, Json> by_id;
  Json results = Json::array(), rules = Json::array();
  const auto add = [&](const std::filesystem::path& path, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      if (Json& rule = by_id[rule_id(finding)]; rule.is_null()) rule = rule_json(finding);
      results.push_back(result_json(path, finding));
    }
  };
  for (const FileCheck& file : report.files) add(file.path, file.findings);
  for (const FolderCheck& folder : report.folders) add(folder.path, folder.findings);
  for (auto& [id, rule] : by_id) rules.push_back(std::move(rule));
  const Json driver = {
      {"name", "benchctl mlperf check"}, {"version", version()}, {"rules", std::move(rules)}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}};
}

namespace {

std::string finding_text(const Finding& finding) {
  return fmt::format("{}:{}: {}: {} (expected {}, found {}) [{}]\n", finding.line, finding.column,
                     to_string(finding.severity), finding.text, finding.expected, finding.found,
                     finding.rule);
}

/// Of the official or the strict check: its findings, and the first error as reason for a failure.
JunitTest junit_test(const std::vector<Finding>& findings, bool official) {
  JunitTest test;
  for (const Finding& finding : findings) {
    if (finding.official != official) continue;
    test.explanation += finding_text(finding);
    if (finding.severity != Severity::error || test.kind == JunitKind::failure) continue;
    test.kind = JunitKind::failure;
    test.why = finding.text;
  }
  return test;
}

JunitTest strict_test(const std::string& group, const std::filesystem::path& path,
                      const std::vector<Finding>& findings) {
  JunitTest test = junit_test(findings, false);
  test.group = group;
  test.name = path.native();
  return test;
}

JunitTest official_test(const FileCheck& file) {
  JunitTest test = junit_test(file.findings, true);
  test.group = "official " + file.rule_set;
  test.name = file.path.native();
  if (file.minutes > 0) test.seconds = 60 * file.minutes;
  if (!file.pass && test.why.empty()) test.why = "fails";
  test.kind = file.pass ? JunitKind::passed : JunitKind::failure;
  return test;
}

}  // namespace

std::string to_junit(const CheckReport& report) {
  std::vector<JunitSuite> suites;
  for (const FolderCheck& folder : report.folders) {
    JunitSuite& suite = suites.emplace_back(JunitSuite{.name = folder.path.native()});
    if (!folder.findings.empty())
      suite.tests.push_back(strict_test("folder", folder.path, folder.findings));
  }
  suites.push_back({.name = "logs"});
  for (const FileCheck& file : report.files) {
    JunitSuite& suite = suites[file.folder.value_or(report.folders.size())];
    suite.tests.push_back(official_test(file));
    if (report.strict) suite.tests.push_back(strict_test("strict", file.path, file.findings));
  }
  JunitReport xml;
  for (const JunitSuite& suite : suites)
    if (!suite.tests.empty()) xml.add(suite);
  return xml.text();
}

namespace {

struct LocatedFinding {
  const std::filesystem::path* path = nullptr;
  const Finding* finding = nullptr;
};

std::string place(const LocatedFinding& located) {
  std::string text = located.path->native();
  if (located.finding->line > 0) text += fmt::format(":{}", located.finding->line);
  if (located.finding->line > 0 && located.finding->column > 0)
    text += fmt::format(":{}", located.finding->column);
  return text;
}

std::string expectation(const Finding& finding) {
  if (finding.expected.empty() && finding.found.empty()) return "";
  if (finding.found.empty()) return "; expected " + finding.expected;
  if (finding.expected.empty()) return "; found " + finding.found;
  return "; expected " + finding.expected + ", found " + finding.found;
}

Tone tone_of(Severity severity) {
  if (severity == Severity::error) return Tone::bad;
  return severity == Severity::warning ? Tone::unsure : Tone::none;
}

ListItem item_of(const LocatedFinding& located) {
  const Finding& finding = *located.finding;
  return {{{{place(located) + ": "},
            {std::string(to_string(finding.severity)), tone_of(finding.severity)},
            {fmt::format(": {}{} [{} {}{}{}]", finding.text, expectation(finding),
                         finding.official ? "official" : "strict", finding.rule,
                         finding.where.empty() ? "" : ", ", finding.where)}}}};
}

/// "1 log", "2 logs".
std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Lists a finding shared by several logs once, with the number of other logs. The found value may
/// differ between logs; the first one is shown.
void add_findings(const std::vector<LocatedFinding>& findings, bool all,
                  std::vector<ListItem>& items) {
  using Kind = std::tuple<std::string, bool, std::string, std::string>;
  struct Logs {
    std::string first;
    std::set<std::string> names;
    bool listed = false;
  };
  std::map<Kind, Logs> kinds;
  const auto logs_with = [&](const Finding& finding) -> Logs& {
    return kinds[{finding.rule, finding.official, finding.key, finding.expected}];
  };
  for (const auto& [path, finding] : findings) {
    Logs& logs = logs_with(*finding);
    if (logs.names.empty()) logs.first = path->native();
    logs.names.insert(path->native());
  }
  for (const LocatedFinding& located : findings) {
    Logs& logs = logs_with(*located.finding);
    if (!all && logs.first != located.path->native()) continue;
    items.push_back(item_of(located));
    if (const std::size_t more = logs.names.size() - 1; !all && !logs.listed && more > 0)
      items.back().details.push_back("same finding in " + counted(more, "more log") +
                                     " of this folder (list them with --all)");
    logs.listed = true;
  }
}

void add_folder(const FolderCheck& folder, const std::vector<const FileCheck*>& files, bool all,
                std::vector<ListItem>& items) {
  const auto passing = std::ranges::count_if(files, &FileCheck::pass);
  std::set<std::string> versions;
  std::vector<LocatedFinding> findings;
  for (const FileCheck* file : files) {
    versions.insert(file->rule_set);
    for (const Finding& finding : file->findings) findings.push_back({&file->path, &finding});
  }
  for (const Finding& finding : folder.findings) findings.push_back({&folder.path, &finding});
  const std::string summary = files.empty() ? "no result_*.txt"
                                            : fmt::format("{} of {} logs pass ({})", passing,
                                                          files.size(), fmt::join(versions, ", "));
  items.push_back({folder.path.native() + ": " + summary});
  add_findings(findings, all, items);
}

void add_loose(const FileCheck& file, std::vector<ListItem>& items) {
  items.push_back({fmt::format("{}: {} ({}: {})", file.path.native(), file.pass ? "pass" : "fail",
                               file.rule_set, file.rule_set_reason)});
  for (const Finding& finding : file.findings) items.push_back(item_of({&file.path, &finding}));
}

/// The number of logs per rule set, with the reason for the first one.
Lines rule_set_lines(const CheckReport& report) {
  std::map<std::string, std::pair<std::size_t, std::string>> versions;
  for (const FileCheck& file : report.files)
    ++versions.try_emplace(file.rule_set, 0U, file.rule_set_reason).first->second.first;
  Lines lines;
  for (const auto& [version, judged] : versions)
    lines.lines.push_back(fmt::format("rule set {} used for {}{}: {}", version,
                                      counted(judged.first, "log"),
                                      judged.first == 1 ? "" : ", first log", judged.second));
  return lines;
}

Headline headline_of(const CheckReport& report) {
  const CheckCounts counts = counts_of(report);
  const Verdict verdict = passed(report) ? Verdict::pass : Verdict::fail;
  Headline line{
      to_upper(to_string(verdict)), tone_of(verdict),
      fmt::format("{} of {} logs pass the official check, {} fail{}", counts.passed, counts.files,
                  counts.failed,
                  report.strict ? "; strict checks: " + counted(counts.errors, "error") : "")};
  if (verdict == Verdict::fail)
    line.next_step = "benchctl mlperf explain FINDING says what a check asks for";
  return line;
}

void add_summary(const CheckReport& report, Document& document) {
  const CheckCounts counts = counts_of(report);
  document.add(Paragraph{fmt::format(
      "official verdict: {} of {} logs pass, {} fail{}", counts.passed, counts.files, counts.failed,
      counts.crashed > 0 ? fmt::format(" ({} of them crash the official checker)", counts.crashed)
                         : "")});
  if (report.strict)
    document.add(
        Lines{{fmt::format("strict: {}, {}, {}", counted(counts.errors, "error"),
                           counted(counts.warnings, "warning"), counted(counts.notes, "note"))}});
  document.add(rule_set_lines(report));
}

}  // namespace

Document to_document(const CheckReport& report, bool all) {
  ItemList list{.items = {}, .positions = true};
  std::vector<std::vector<const FileCheck*>> files(report.folders.size());
  for (const FileCheck& file : report.files)
    if (file.folder) files.at(*file.folder).push_back(&file);
  for (std::size_t i = 0; i < report.folders.size(); ++i)
    add_folder(report.folders[i], files[i], all, list.items);
  for (const FileCheck& file : report.files)
    if (!file.folder) add_loose(file, list.items);
  Document document{.title = "MLPerf check"};
  document.add(headline_of(report), Audience::page).add(std::move(list));
  add_summary(report, document);
  return document;
}

}  // namespace bench::mlperf
