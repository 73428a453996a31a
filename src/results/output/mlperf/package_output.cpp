#include "results/output/mlperf/package_output.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/disclaimer.h"
#include "core/json_fields.h"
#include "results/output/mlperf/score_output.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kShownErrors = 10;

/// Lists each rule once, even if several logs fail it.
ItemList first_errors(const CheckReport& check) {
  std::map<std::string, std::string> by_rule;
  const auto add = [&](const std::filesystem::path& path, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings)
      if (finding.severity == Severity::error)
        by_rule.try_emplace(finding.rule,
                            fmt::format("{}{}: {}: {}", path.filename().string(),
                                        finding.line > 0 ? fmt::format(":{}", finding.line) : "",
                                        finding.rule, finding.text));
  };
  for (const FileCheck& file : check.files) add(file.path, file.findings);
  for (const FolderCheck& folder : check.folders) add(folder.path, folder.findings);
  ItemList list{.items = {}, .most = kShownErrors};
  for (const auto& [rule, text] : by_rule) list.items.push_back({text});
  return list;
}

std::string score_sentence(const EntryScore& score) {
  if (std::isfinite(score.score_minutes))
    return fmt::format("score {} minutes", format_minutes(score.score_minutes));
  if (!std::isfinite(score.mean_minutes)) return "no score";
  return fmt::format("{} {} minutes, no score",
                     std::isnan(score.olympic_mean_minutes) ? "mean" : "olympic mean",
                     format_minutes(score.mean_minutes));
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

Document to_document(const CheckedPackage& checked) {
  const Package& package = checked.package;
  const EntryScore& score = checked.score;
  const CheckCounts counts = counts_of(checked.check);
  const std::string folder = package.folder.string();
  const bool passed = checked.exit_code() == ExitCode::ok;
  Document document{.title = "MLPerf package",
                    .badge = verdict_cell(passed ? Verdict::pass : Verdict::fail)};
  document.add(Heading{std::vector<TextSpan>{
      {folder}, {fmt::format("  {} files; {}", package.files.size(), kNotVerified), Tone::faint}}});
  Lines lines;
  if (package.filled > 0)
    lines.lines.push_back(fmt::format(
        "replaced placeholders for submitter and platform in {} lines", package.filled));
  for (const std::string& log : checked.left_out)
    lines.lines.push_back("skipped, outside the median window: " + log);
  lines.lines.push_back(fmt::format("{} of {} logs pass the official check ({}); {}", counts.passed,
                                    counts.files, score.ruleset, score_sentence(score)));
  lines.lines.push_back(
      fmt::format("strict checks: {} errors, {} warnings", counts.errors, counts.warnings));
  document.add(std::move(lines)).add(first_errors(checked.check));
  if (!package.todo.empty()) document.add(Heading{"Still to do by hand:"});
  ItemList todo;
  for (const TodoItem& one : package.todo) todo.items.push_back({one.what + ": " + one.why});
  document.add(std::move(todo));
  return document.add(Paragraph{"Details: benchctl mlperf check " + folder});
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
