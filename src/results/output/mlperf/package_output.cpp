#include "results/output/mlperf/package_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/disclaimer.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/output/mlperf/score_words.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kShownErrors = 10;

/// Prints each rule once, even if several logs fail it.
std::string first_errors(const CheckReport& check, const TextStyle& style) {
  std::map<std::string, std::string> by_rule;
  const auto add = [&](const std::filesystem::path& path, const Finding& finding) {
    if (finding.severity == Severity::error)
      by_rule.try_emplace(finding.rule,
                          path.filename().string() +
                              (finding.line > 0 ? fmt::format(":{}", finding.line) : "") + ": " +
                              finding.rule + ": " + finding.text);
  };
  for (const FileCheck& file : check.files)
    for (const Finding& finding : file.findings) add(file.path, finding);
  for (const FolderCheck& folder : check.folders)
    for (const Finding& finding : folder.findings) add(folder.path, finding);
  std::string text;
  std::size_t shown = 0;
  for (const auto& [rule, words] : by_rule)
    if (++shown <= kShownErrors) text += "  " + wrap(printable(words), 2, 4, style) + "\n";
  return text;
}

std::string score_sentence(const EntryScore& score) {
  if (std::isfinite(score.score_minutes))
    return fmt::format("score {} minutes", format_minutes(score.score_minutes));
  return std::isfinite(score.olympic_mean_minutes)
             ? fmt::format("olympic mean {} minutes, no score",
                           format_minutes(score.olympic_mean_minutes))
             : "no score";
}

Json packaged_run_json(const ScoredRun& run) {
  return {{"file", run.read.file.filename().string()},
          {"official", run.read.compliant ? "pass" : "fail"},
          {"failed", text_or_null(run.read.failed)},
          {"minutes", run.minutes}};
}

}  // namespace

ExitCode CheckedPackage::exit_code() const {
  return passed(check) && std::isfinite(score.score_minutes) ? ExitCode::ok : ExitCode::failed;
}

std::string to_text(const CheckedPackage& checked, const TextStyle& style) {
  const Package& package = checked.package;
  const EntryScore& score = checked.score;
  std::string text = paint(printable(package.folder.string()), Paint::bold, style) +
                     fmt::format("  {} files; {}\n", package.files.size(), kNotVerified);
  if (package.filled > 0)
    text += fmt::format("  replaced placeholders for submitter and platform in {} lines\n",
                        package.filled);
  for (const std::string& log : checked.left_out)
    text += "  skipped, outside the median window: " + printable(log) + "\n";
  const CheckCounts counts = counts_of(checked.check);
  text += fmt::format("  {} of {} logs pass the official check ({}); {}\n", counts.passed,
                      counts.files, printable(score.ruleset), score_sentence(score));
  text += fmt::format("  strict checks: {} errors, {} warnings\n", counts.errors, counts.warnings);
  text += first_errors(checked.check, style);
  if (!package.todo.empty()) text += "Still to do by hand:\n";
  for (const TodoItem& one : package.todo)
    text += "  " + wrap(printable(one.what + ": " + one.why), 2, 4, style) + "\n";
  return text + "Details: benchctl mlperf check " + printable(package.folder.string()) + "\n";
}

Json to_json(const CheckedPackage& checked) {
  const Package& package = checked.package;
  const EntryScore& score = checked.score;
  Json files = Json::array(), to_do = Json::array(), runs = Json::array();
  for (const auto& file : package.files) files.push_back(file.string());
  for (const TodoItem& one : package.todo) to_do.push_back({{"what", one.what}, {"why", one.why}});
  for (const ScoredRun& run : score.runs) runs.push_back(packaged_run_json(run));
  return {{"notice", kNotVerified},
          {"folder", package.folder.string()},
          {"files", std::move(files)},
          {"filled_lines", package.filled},
          {"left_out", checked.left_out},
          {"to_do", std::move(to_do)},
          {"ruleset", score.ruleset},
          {"runs", std::move(runs)},
          {"check", to_json(checked.check)},
          {"olympic_mean_minutes", score.olympic_mean_minutes},
          {"score_minutes", score.score_minutes},
          {"exit_code", static_cast<int>(checked.exit_code())}};
}

}  // namespace bench::mlperf
