#include "results/mlperf/package/package_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/json_fields.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/score/score_words.h"

namespace bench::mlperf {
namespace {

bool complies(const ScoredRun& run) { return run.read.compliant; }

std::string score_sentence(const EntryScore& score) {
  if (std::isfinite(score.score_minutes))
    return fmt::format("score {} minutes", minutes_words(score.score_minutes));
  return std::isfinite(score.olympic_mean_minutes)
             ? fmt::format("olympic mean {} minutes, no score",
                           minutes_words(score.olympic_mean_minutes))
             : "no score";
}

Json run_json(const ScoredRun& run) {
  return {{"file", run.read.file.filename().string()},
          {"official", run.read.compliant ? "pass" : "fail"},
          {"failed", text_or_null(run.read.failed)},
          {"minutes", run.minutes}};
}

}  // namespace

ExitCode CheckedPackage::exit_code() const {
  const bool all = std::ranges::all_of(score.runs, complies);
  return all && std::isfinite(score.score_minutes) ? ExitCode::ok : ExitCode::failed;
}

std::string to_text(const CheckedPackage& checked, const TextStyle& style) {
  const Package& package = checked.package;
  const EntryScore& score = checked.score;
  std::string text = paint(printable(package.folder.string()), Paint::bold, style) +
                     fmt::format("  {} files; {}\n", package.files.size(), kNotVerified);
  if (package.filled > 0)
    text += fmt::format("  placeholders of submitter and platform filled in {} lines\n",
                        package.filled);
  for (const std::string& log : checked.left_out)
    text += "  left out, not of the median window: " + printable(log) + "\n";
  text += fmt::format("  {} of {} logs pass the official check ({}); {}\n",
                      std::ranges::count_if(score.runs, complies), score.runs.size(),
                      printable(score.ruleset), score_sentence(score));
  for (const ScoredRun& run : score.runs)
    if (!run.read.compliant)
      text +=
          "  " +
          wrap(printable(run.read.file.filename().string() + ": " + run.read.failed), 2, 4, style) +
          "\n";
  if (!package.to_fill.empty()) text += "A person must still see to:\n";
  for (const ToFill& one : package.to_fill)
    text += "  " + wrap(printable(one.what + ": " + one.why), 2, 4, style) + "\n";
  return text + "benchctl mlperf check " + printable(package.folder.string()) + " says more.\n";
}

Json to_json(const CheckedPackage& checked) {
  const Package& package = checked.package;
  const EntryScore& score = checked.score;
  Json files = Json::array(), to_do = Json::array(), runs = Json::array();
  for (const auto& file : package.files) files.push_back(file.string());
  for (const ToFill& one : package.to_fill) to_do.push_back({{"what", one.what}, {"why", one.why}});
  for (const ScoredRun& run : score.runs) runs.push_back(run_json(run));
  return {{"notice", kNotVerified},
          {"folder", package.folder.string()},
          {"files", std::move(files)},
          {"filled_lines", package.filled},
          {"left_out", checked.left_out},
          {"to_do", std::move(to_do)},
          {"ruleset", score.ruleset},
          {"runs", std::move(runs)},
          {"olympic_mean_minutes", score.olympic_mean_minutes},
          {"score_minutes", score.score_minutes},
          {"exit_code", static_cast<int>(checked.exit_code())}};
}

}  // namespace bench::mlperf
