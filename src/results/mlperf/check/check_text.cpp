#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.h"
#include "results/mlperf/check/check_report.h"

namespace bench::mlperf {
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
  for (const LocatedFinding& located : all_findings) logs[kind(*located.finding)].insert(located.path->native());
  std::string text;
  std::map<Kind, std::string> first_log_with;
  for (const LocatedFinding& located : all_findings) {
    const auto [at, is_new] = first_log_with.emplace(kind(*located.finding), located.path->native());
    if (!all && !is_new && at->second != located.path->native()) continue;
    text += line_of(located);
    const std::size_t more = logs[kind(*located.finding)].size() - 1;
    if (!all && is_new && more > 0)
      text += fmt::format(
          "    same finding in {} more log{} of this folder (list them with --all)\n",
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
