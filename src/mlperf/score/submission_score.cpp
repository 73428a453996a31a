#include "mlperf/score/submission_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.h"
#include "mlperf/rules/official_check.h"
#include "mlperf/score/entry_score.h"
#include "mlperf/submission/submission.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

double launch_of(const Log& log, const RunFacts& facts) {
  if (facts.init_start_ms) return *facts.init_start_ms;
  if (facts.run_start_ms) return *facts.run_start_ms;
  return log.entries.empty() ? kNoValue : log.entries.front().time_ms;
}

std::string failure_text(const OfficialVerdict& verdict) {
  if (verdict.pass || verdict.findings.empty())
    return verdict.pass ? "" : "the log fails the official check";
  const Finding& first = verdict.findings.front();
  const std::string place = first.line > 0 ? "line " + std::to_string(first.line) + ": " : "";
  return place + first.text;
}

}  // namespace

ReadRun run_of_log(const Log& log, RunFacts facts, const RuleSet& rules, std::string reason,
                   const OfficialVerdict& verdict) {
  ReadRun run{.file = log.path, .digest = log.digest, .facts = std::move(facts)};
  run.launch_ms = launch_of(log, run.facts);
  run.energy = run_energy(log.path, run.facts.minutes);
  run.ruleset = rules.version;
  run.ruleset_reason = std::move(reason);
  const auto benchmark = rules.benchmarks.find(run.facts.benchmark);
  if (benchmark != rules.benchmarks.end())
    run.required_runs = static_cast<std::int64_t>(benchmark->second.runs);
  run.compliant = verdict.pass;
  run.failed = failure_text(verdict);
  run.facts.evaluations = {};  // large and no longer needed; last_before_stop remains
  return run;
}

namespace {

ReadRun checked_run(const Log& log, const RuleSetChoice& choice,
                    const std::vector<RuleSet>& known) {
  const auto rules = std::ranges::find(known, choice.version, &RuleSet::version);
  return run_of_log(log, facts_of(log), *rules, choice.reason, official_check(log, *rules));
}

std::vector<fs::path> all_logs(const Submission& submission) {
  std::vector<fs::path> logs;
  for (const SubmissionEntry& entry : submission.entries)
    logs.insert(logs.end(), entry.logs.begin(), entry.logs.end());
  logs.insert(logs.end(), submission.loose.begin(), submission.loose.end());
  return logs;
}

/// A log without a benchmark of its round, such as a torn one, says nothing about the round, unless
/// all are such.
RuleSetChoice newest_round(const std::vector<ReadRun>& runs, const std::vector<RuleSet>& known) {
  for (const bool any_log : {false, true})
    for (auto rules = known.rbegin(); rules != known.rend(); ++rules)
      if (std::ranges::any_of(runs, [&](const ReadRun& run) {
            return run.ruleset == rules->version &&
                   (any_log || rules->benchmarks.contains(run.facts.benchmark));
          }))
        return {rules->version, "the newest round among these logs: " + rules->round};
  return {};
}

/// Reads the data needed for scores in parallel: one element per log, those of entries first.
/// Throws Error(input) for an unknown round.
std::vector<ReadRun> read_runs(const Submission& submission, const std::string& ruleset) {
  const std::vector<fs::path> paths = all_logs(submission);
  const std::vector<RuleSet> known = possible_rounds(submission, rule_set_folder(), ruleset);
  std::vector<ReadRun> runs(paths.size());
  read_logs(paths, [&](std::size_t index, const Log& log) {
    runs[index] = checked_run(log, choose_round(log, known, ruleset), known);
  });
  return runs;
}

/// Checks the logs of earlier rounds again by the newest round that any log belongs to by benchmark
/// and date, among the rounds with all benchmarks of the submitters' folders. (A submission may
/// contain results of an earlier round.)
void use_newest_round(std::vector<ReadRun>& runs, const Submission& submission,
                      const std::string& ruleset) {
  const auto differs = [&](const ReadRun& run) { return run.ruleset != runs.front().ruleset; };
  if (std::ranges::none_of(runs, differs)) return;
  const std::vector<RuleSet> known = possible_rounds(submission, rule_set_folder(), ruleset);
  const RuleSetChoice round = newest_round(runs, known);
  for (ReadRun& run : runs)
    if (run.ruleset != round.version) run = checked_run(read_log(run.file), round, known);
}

EntryScore entry_from(const SubmissionEntry& entry, std::vector<std::string>& warnings) {
  EntryScore score{.submitter = entry.submitter, .system = entry.system};
  score.benchmark = entry.benchmark;
  score.folder = entry.folder;
  if (!entry.scaling_file) return score;
  try {
    score.file_factor = read_scaling_factor(*entry.scaling_file);
  } catch (const Error& error) {
    warnings.push_back(std::string(error.what()) + "; ignoring the file");
  }
  return score;
}

/// Groups logs outside the layout by folder and benchmark.
void add_loose(std::vector<EntryScore>& entries, std::vector<ReadRun> runs,
               std::vector<std::string>& warnings) {
  std::map<std::pair<fs::path, std::string>, EntryScore> groups;
  for (ReadRun& run : runs) {
    if (run.facts.benchmark.empty()) {
      warnings.push_back(run.file.string() + ": skipped, because it has no submission_benchmark");
      continue;
    }
    EntryScore& entry = groups[{run.file.parent_path(), run.facts.benchmark}];
    entry.benchmark = run.facts.benchmark;
    entry.folder = run.file.parent_path();
    entry.runs.push_back({.read = std::move(run)});
  }
  for (auto& [key, entry] : groups) entries.push_back(std::move(entry));
}

std::vector<EntryScore> filled_entries(const Submission& submission, std::vector<ReadRun> runs,
                                       std::vector<std::string>& warnings) {
  std::vector<EntryScore> entries;
  auto next = runs.begin();
  for (const SubmissionEntry& from : submission.entries) {
    entries.push_back(entry_from(from, warnings));
    for (std::size_t i = 0; i < from.logs.size(); ++i)
      entries.back().runs.push_back({.read = std::move(*next++)});
  }
  add_loose(entries, {std::make_move_iterator(next), std::make_move_iterator(runs.end())},
            warnings);
  return entries;
}

/// Sets the round and the division from the first run.
void identify(EntryScore& entry, const std::optional<SystemDescription>& description) {
  const ReadRun& first = entry.runs.front().read;
  entry.ruleset = first.ruleset;
  entry.ruleset_reason = first.ruleset_reason;
  entry.required_runs = first.required_runs;
  entry.division =
      description && !description->division.empty() ? description->division : first.facts.division;
}

/// The reference points of each round, loaded once.
class Rounds {
 public:
  explicit Rounds(const SubmissionScoreSettings& settings) : settings_(settings) {}

  /// By the folder's name or, failing that, the benchmark in the logs.
  const RcpSet* find(const EntryScore& entry) {
    const RcpSets& sets = of(entry.ruleset);
    for (const std::string& name : {entry.benchmark, entry.runs.front().read.facts.benchmark})
      if (const auto found = sets.find(name); found != sets.end()) return &found->second;
    return nullptr;
  }

 private:
  const RcpSets& of(const std::string& ruleset) {
    const auto known = rounds_.find(ruleset);
    if (known != rounds_.end()) return known->second;
    RcpSets sets = load_rcps(rcp_folder(), ruleset);
    if (settings_.rcp_dir) use_published_rcps(sets, *settings_.rcp_dir);
    return rounds_.emplace(ruleset, std::move(sets)).first->second;
  }

  const SubmissionScoreSettings& settings_;
  std::map<std::string, RcpSets> rounds_ = {};
};

/// systems/SYSTEM.json files, each loaded once.
class Descriptions {
 public:
  explicit Descriptions(std::vector<std::string>& warnings) : warnings_(warnings) {}

  std::optional<SystemDescription> of(const Submission& submission, std::size_t entry) {
    if (entry >= submission.entries.size() || !submission.entries[entry].system_file) return {};
    const auto [known, is_new] = known_.try_emplace(*submission.entries[entry].system_file);
    if (is_new) known->second = read(known->first);
    return known->second;
  }

 private:
  std::optional<SystemDescription> read(const fs::path& file) {
    try {
      return read_system_description(file);
    } catch (const Error& error) {
      warnings_.emplace_back(error.what());
      return {};
    }
  }

  std::vector<std::string>& warnings_;
  std::map<fs::path, std::optional<SystemDescription>> known_ = {};
};

void add_row(SubmissionScore& score, std::size_t number,
             const std::optional<SystemDescription>& description) {
  const EntryScore& entry = score.entries[number];
  const auto row = std::ranges::find_if(score.systems, [&](const SystemRow& known) {
    return known.submitter == entry.submitter && known.system == entry.system;
  });
  if (row != score.systems.end()) return row->entries.push_back(number);
  score.systems.push_back({entry.submitter, entry.system, description, {number}});
}

std::tuple<std::string, std::string, std::string> order_of(const SystemRow& row) {
  return {row.description ? row.description->division : "", row.submitter, row.system};
}

ExitCode exit_code_of(const std::vector<EntryScore>& entries) {
  ExitCode code = ExitCode::ok;
  for (const EntryScore& entry : entries) {
    if (entry.valid()) continue;
    if (entry.required_runs > 0) return ExitCode::failed;
    code = ExitCode::not_measured;
  }
  return entries.empty() ? ExitCode::not_measured : code;
}

void score_entries(SubmissionScore& score, const Submission& submission,
                   const SubmissionScoreSettings& settings) {
  Rounds rounds(settings);
  Descriptions descriptions(score.warnings);
  for (std::size_t i = 0; i < score.entries.size(); ++i) {
    EntryScore& entry = score.entries[i];
    const auto description = descriptions.of(submission, i);
    identify(entry, description);
    const RcpSet* set = rounds.find(entry);
    score_entry(entry, set, settings);
    if (set != nullptr) score.reference.emplace(entry.ruleset + " " + set->benchmark, *set);
    add_row(score, i, description);
  }
}

}  // namespace

const EntryScore* SubmissionScore::entry_at(const SystemRow& row,
                                            const std::string& benchmark) const {
  for (const std::size_t entry : row.entries)
    if (entries[entry].benchmark == benchmark) return &entries[entry];
  return nullptr;
}

SubmissionScore score_runs(const Submission& submission, std::vector<ReadRun> runs,
                           const SubmissionScoreSettings& settings) {
  SubmissionScore score{.root = submission.root};
  use_newest_round(runs, submission, settings.ruleset);
  score.entries = filled_entries(submission, std::move(runs), score.warnings);
  for (const fs::path& folder : submission.without)
    score.warnings.push_back(folder.string() + ": no result_*.txt");
  score_entries(score, submission, settings);
  std::set<std::string> benchmarks;
  for (const EntryScore& entry : score.entries) benchmarks.insert(entry.benchmark);
  score.benchmarks.assign(benchmarks.begin(), benchmarks.end());
  std::ranges::stable_sort(score.systems, {}, order_of);
  score.exit_code = exit_code_of(score.entries);
  return score;
}

SubmissionScore score_submission(const Submission& submission,
                                 const SubmissionScoreSettings& settings) {
  return score_runs(submission, read_runs(submission, settings.ruleset), settings);
}

}  // namespace bench::mlperf
