#include "results/mlperf/check/result_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "results/mlperf/score/entry_parts.h"
#include "results/mlperf/score/entry_score.h"

namespace bench::mlperf {
namespace {

constexpr double kSameFactor = 1e-6;

EntryScore entry_of(const SubmissionEntry& from, std::span<const FileCheck> files,
                    std::span<const RunExtract> runs) {
  EntryScore entry{.submitter = from.submitter, .system = from.system};
  entry.benchmark = from.benchmark;
  entry.folder = from.folder;
  entry.ruleset = files.front().rule_set;
  entry.division = files.front().division;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ReadRun run{.file = runs[i].path, .facts = runs[i].facts};
    run.compliant = files[i].pass;
    run.launch_ms = run.facts.init_start_ms.value_or(run.facts.run_start_ms.value_or(kNoValue));
    entry.runs.push_back({.read = std::move(run)});
  }
  return entry;
}

Finding about_factor(std::string expected, std::string found, std::string text) {
  return {.rule = "scaling.file",
          .severity = Severity::warning,
          .expected = std::move(expected),
          .found = std::move(found),
          .text = std::move(text),
          .where = "training_rules: Score scaling"};
}

/// `entry` has a valid score and a tested convergence.
void compare_factor(const EntryScore& entry, std::optional<double> written,
                    std::vector<Finding>& findings) {
  const double own = entry.rcp->factor;
  if (std::abs(written.value_or(1.0) - own) <= kSameFactor) return;
  findings.push_back(about_factor(
      fmt::format("{:.9g}", own), written ? fmt::format("{:.9g}", *written) : "no scaling.json",
      fmt::format("the score is {:.4f} minutes with the factor computed from these runs and "
          "{:.4f} with that of scaling.json: the file is stale, or the review "
          "committee set its factor",
                  entry.olympic_mean_minutes * own,
                  entry.olympic_mean_minutes * written.value_or(1.0))));
}

void check_factor(const SubmissionEntry& from, EntryScore& entry, const RcpSet& points,
                  std::vector<Finding>& findings) {
  std::optional<double> written;
  try {
    if (from.scaling_file) written = read_scaling_factor(*from.scaling_file);
  } catch (const Error& error) {
    findings.push_back(about_factor("a positive scaling_factor", error.what(),
                                    "cannot read scaling.json"));
    return;
  }
  score_entry(entry, &points, {});
  if (entry.valid() && entry.rcp && entry.rcp->pass) compare_factor(entry, written, findings);
}

void check_count(const SubmissionEntry& entry, const RcpSet& points,
                 std::vector<Finding>& findings) {
  const auto required = static_cast<std::size_t>(std::max<std::int64_t>(points.runs, 0));
  if (required == 0 || entry.logs.size() == required) return;
  findings.push_back({.rule = "runs.count",
                      .severity = Severity::warning,
                      .expected = fmt::format("{} runs", required),
                      .found = fmt::format("{} result_*.txt", entry.logs.size()),
                      .text = "the number of runs differs from what this benchmark requires",
                      .where = "training_rules: Benchmark Results"});
}

}  // namespace

const RcpSet* ReferencePoints::find(const std::string& rule_set, const std::string& benchmark) {
  if (!rounds_.contains(rule_set)) {
    const std::vector<std::string> known = rcp_rulesets(rcp_folder());
    rounds_[rule_set] = std::find(known.begin(), known.end(), rule_set) == known.end()
                            ? RcpSets()
                            : load_rcps(rcp_folder(), rule_set);
  }
  const RcpSets& sets = rounds_.at(rule_set);
  const auto at = sets.find(benchmark);
  return at == sets.end() ? nullptr : &at->second;
}

std::vector<Finding> check_result(const SubmissionEntry& entry, std::span<const FileCheck> files,
                                  std::span<const RunExtract> runs, ReferencePoints& reference) {
  std::vector<Finding> findings;
  if (files.empty() || entry.organisation.empty()) return findings;
  const RcpSet* points = reference.find(files.front().rule_set, files.front().benchmark);
  if (points == nullptr || files.front().division != "closed") return findings;
  check_count(entry, *points, findings);
  EntryScore score = entry_of(entry, files, runs);
  check_factor(entry, score, *points, findings);
  return findings;
}

}  // namespace bench::mlperf
