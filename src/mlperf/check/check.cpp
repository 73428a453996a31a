#include "mlperf/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "mlperf/check/check_report.h"
#include "mlperf/finding.h"
#include "mlperf/log/log.h"
#include "mlperf/log/run_facts.h"
#include "mlperf/rcp/rcp_files.h"
#include "mlperf/rules/official_check.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/rules/rule_set_choice.h"
#include "mlperf/score/entry_score.h"
#include "mlperf/score/submission_score.h"
#include "mlperf/strict/runs_check.h"
#include "mlperf/strict/strict_check.h"
#include "mlperf/submission/submission.h"
#include "mlperf/submission/system_description.h"

namespace bench::mlperf {
namespace {

// Checks of a whole result: the number of runs, and whether scaling.json has the factor computed
// from them.

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
  const std::string scores = fmt::format(
      "the score is {:.4f} minutes with the factor computed from these runs and {:.4f} ",
      entry.mean_minutes * own, entry.mean_minutes * written.value_or(1.0));
  if (written)
    findings.push_back(about_factor(fmt::format("{:.9g}", own), fmt::format("{:.9g}", *written),
                                    scores + "with that of scaling.json: the file is stale, or the "
                                             "review committee set its factor"));
  else
    findings.push_back(about_factor(fmt::format("{:.9g}", own), "no scaling.json",
                                    scores + "without a factor: the official convergence test "
                                             "writes scaling.json, so run it before you submit"));
}

void check_factor(const SubmissionEntry& from, EntryScore& entry, const RcpSet& points,
                  std::vector<Finding>& findings) {
  std::optional<double> written;
  try {
    if (from.scaling_file) written = read_scaling_factor(*from.scaling_file);
  } catch (const Error& error) {
    findings.push_back(
        about_factor("a positive scaling_factor", error.what(), "cannot read scaling.json"));
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

/// `files` and `runs` correspond to `entry.logs`.
std::vector<Finding> check_result(const SubmissionEntry& entry, std::span<const FileCheck> files,
                                  std::span<const RunExtract> runs, BundledRcps& reference) {
  std::vector<Finding> findings;
  if (files.empty() || entry.organisation.empty()) return findings;
  const RcpSets& sets = reference.of(files.front().rule_set);
  const auto points = sets.find(files.front().benchmark);
  if (points == sets.end() || files.front().division != "closed") return findings;
  check_count(entry, points->second, findings);
  EntryScore score = entry_of(entry, files, runs);
  check_factor(entry, score, points->second, findings);
  return findings;
}

// Logs of an earlier round that an organisation resubmits must pass the rules of the new round
// (training_rules: Results Resubmission).

struct LogChoice {
  std::filesystem::path organisation = {};  // its folder; "" for a log outside the layout
  std::string benchmark = {};               // as logged
  RuleSetChoice choice = {};                // by the log itself
};

std::size_t age_of(const std::vector<RuleSet>& known, const std::string& version) {
  return static_cast<std::size_t>(std::ranges::find(known, version, &RuleSet::version) -
                                  known.begin());
}

/// Moves the logs of an organisation to the newest rule set of any of its logs, if that one has
/// their benchmark. `known` is sorted oldest first. Returns the indices of the changed logs.
std::vector<std::size_t> apply_newest_round(std::vector<LogChoice>& logs,
                                            const std::vector<RuleSet>& known) {
  std::map<std::filesystem::path, std::size_t> newest;
  for (const LogChoice& log : logs) {
    const std::size_t age = age_of(known, log.choice.version);
    // A log without a benchmark, such as a torn one, says nothing about the round.
    if (!log.organisation.empty() && age < known.size() &&
        known[age].benchmarks.contains(log.benchmark))
      newest[log.organisation] = std::max(newest[log.organisation], age);
  }
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const auto at = newest.find(logs[i].organisation);
    if (at == newest.end() || at->second >= known.size()) continue;
    const RuleSet& rules = known[at->second];
    if (age_of(known, logs[i].choice.version) >= at->second ||
        !rules.benchmarks.contains(logs[i].benchmark))
      continue;
    logs[i].choice = {.version = rules.version,
                      .reason = "submitted together with runs of " + rules.round +
                                "; on its own, the log would be checked against " +
                                logs[i].choice.version};
    changed.push_back(i);
  }
  return changed;
}

/// The position of a log in the submission.
struct Place {
  const SubmissionEntry* entry = nullptr;
  std::optional<std::size_t> folder = {};
  std::optional<std::int64_t> accelerators = {};
  std::string division = {};  // of the system description; "" if unknown
};

struct LogList {
  std::vector<std::filesystem::path> paths = {};
  std::vector<Place> places = {};
};

/// Empty if unreadable; then the batch is not compared with the system.
std::optional<SystemDescription> description_of(const SubmissionEntry& entry) {
  if (!entry.system_file) return std::nullopt;
  try {
    return read_system_description(*entry.system_file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

LogList log_list_of(const Submission& submission) {
  LogList work;
  for (std::size_t i = 0; i < submission.entries.size(); ++i) {
    const SubmissionEntry& entry = submission.entries[i];
    const std::optional<SystemDescription> system = description_of(entry);
    const Place place{&entry, i, system ? system->accelerators() : std::nullopt,
                      system ? system->division : ""};
    for (const std::filesystem::path& log : entry.logs) {
      work.paths.push_back(log);
      work.places.push_back(place);
    }
  }
  for (const std::filesystem::path& log : submission.loose) {
    work.paths.push_back(log);
    work.places.push_back({});
  }
  return work;
}

void add_strict(const Log& log, const RunFacts& facts, const RuleSet& rules, const Place& place,
                FileCheck& file) {
  Subject subject{.log = log, .facts = facts, .rules = rules};
  subject.accelerators = place.accelerators;
  subject.division = place.division;
  if (place.entry != nullptr) {
    subject.submitter = place.entry->submitter;
    subject.folder = place.entry->benchmark;
  }
  std::vector<Finding> findings = strict_check(subject);
  std::move(findings.begin(), findings.end(), std::back_inserter(file.findings));
}

/// `extract`: filled for strict checks only. `run`: filled for a score, which ignores
/// warnings_are_errors, if not nullptr.
FileCheck check_log(const Log& log, const Place& place, const CheckOptions& options,
                    const RuleSetChoice& choice, const RuleSet& rules, RunExtract& extract,
                    ReadRun* run) {
  OfficialVerdict verdict = official_check(log, rules, options.warnings_are_errors);
  RunFacts facts = facts_of(log);
  if (run != nullptr && options.warnings_are_errors)
    *run = run_of_log(log, facts, rules, choice.reason, official_check(log, rules));
  else if (run != nullptr)
    *run = run_of_log(log, facts, rules, choice.reason, verdict);
  FileCheck file{.path = log.path,
                 .folder = place.folder,
                 .rule_set = choice.version,
                 .rule_set_reason = choice.reason,
                 .pass = verdict.pass && !verdict.crash,
                 .crash = verdict.crash,
                 .benchmark = facts.benchmark,
                 .division = facts.division,
                 .minutes = facts.minutes,
                 .bytes = log.bytes,
                 .lines = log.lines,
                 .findings = std::move(verdict.findings)};
  std::move(verdict.warnings.begin(), verdict.warnings.end(), std::back_inserter(file.findings));
  if (options.strict) {
    add_strict(log, facts, rules, place, file);
    extract = extract_run(log, std::move(facts));
  }
  return file;
}

/// Logs outside the layout need not be runs of a submission.
void downgrade_loose(std::vector<RunFinding>& findings, std::span<const FileCheck> files) {
  for (RunFinding& found : findings)
    if (!files[found.run].folder) found.finding.severity = Severity::warning;
}

void add(std::vector<RunFinding> findings, std::span<FileCheck* const> files) {
  for (RunFinding& found : findings) files[found.run]->findings.push_back(std::move(found.finding));
}

/// Checks each result: the files [first, last) of one folder.
void compare_runs(std::span<FileCheck> files, std::span<const RunExtract> runs) {
  std::vector<FileCheck*> all;
  for (FileCheck& file : files) all.push_back(&file);
  std::vector<RunFinding> copies = check_copies(runs);
  downgrade_loose(copies, files);
  add(std::move(copies), all);
  for (std::size_t first = 0, last = 0; first < files.size(); first = last) {
    last = first + 1;
    if (!files[first].folder) continue;
    while (last < files.size() && files[last].folder == files[first].folder) ++last;
    add(check_runs(runs.subspan(first, last - first)), std::span(all).subspan(first, last - first));
  }
}

/// Compares all runs of a system across its benchmarks.
void check_overlaps_by_system(const Submission& submission, std::span<FileCheck> files,
                              std::span<const RunExtract> runs) {
  std::map<std::filesystem::path,
           std::pair<std::vector<const RunExtract*>, std::vector<FileCheck*>>>
      systems;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].folder) continue;
    auto& [extract, system_files] =
        systems[submission.entries[*files[i].folder].folder.parent_path()];
    extract.push_back(&runs[i]);
    system_files.push_back(&files[i]);
  }
  for (auto& [system, lists] : systems) add(check_overlaps(lists.first), lists.second);
}

void check_results(const Submission& submission, CheckReport& report,
                   std::span<const RunExtract> runs) {
  BundledRcps reference;
  std::size_t first = 0;
  for (std::size_t i = 0; i < submission.entries.size(); ++i) {
    const std::size_t count = submission.entries[i].logs.size();
    report.folders[i].findings =
        check_result(submission.entries[i], std::span(report.files).subspan(first, count),
                     runs.subspan(first, count), reference);
    first += count;
  }
}

std::vector<FolderCheck> folders_of(const Submission& submission, bool strict) {
  std::vector<FolderCheck> folders;
  for (const SubmissionEntry& entry : submission.entries)
    folders.push_back({entry.folder, entry.submitter, entry.system, entry.benchmark, {}});
  if (!strict) return folders;
  for (const std::filesystem::path& folder : submission.without)
    folders.push_back({.path = folder,
                       .findings = {{.rule = "folder.empty",
                                     .severity = Severity::warning,
                                     .expected = "result_*.txt",
                                     .found = "no such file",
                                     .text = "the benchmark folder contains no result_*.txt",
                                     .where = "submission_rules: Submission process"}}});
  return folders;
}

}  // namespace

CheckReport check_submission(const Submission& submission, const CheckOptions& options,
                             std::vector<ReadRun>* runs) {
  const LogList work = log_list_of(submission);
  const std::vector<RuleSet> known =
      possible_rounds(submission, options.rule_sets, options.rule_set);
  CheckReport report{.strict = options.strict, .folders = folders_of(submission, options.strict)};
  report.files.resize(work.paths.size());
  if (runs != nullptr) runs->resize(work.paths.size());
  std::vector<RunExtract> extracts(work.paths.size());
  std::vector<LogChoice> choices(work.paths.size());
  const auto check = [&](std::size_t i, const Log& log, ReadRun* run) {
    const RuleSetChoice& choice = choices[i].choice;
    const auto rules = std::ranges::find(known, choice.version, &RuleSet::version);
    report.files[i] = check_log(log, work.places[i], options, choice, *rules, extracts[i], run);
  };
  read_logs(work.paths, [&](std::size_t i, const Log& log) {
    choices[i].choice = choose_round(log, known, options.rule_set);
    check(i, log, runs != nullptr ? &(*runs)[i] : nullptr);
    choices[i].benchmark = report.files[i].benchmark;
    if (work.places[i].entry != nullptr)
      choices[i].organisation = work.places[i].entry->organisation;
  });
  const std::vector<std::size_t> changed = apply_newest_round(choices, known);
  std::vector<std::filesystem::path> paths;
  for (const std::size_t i : changed) paths.push_back(work.paths[i]);
  read_logs(paths, [&](std::size_t k, const Log& log) { check(changed[k], log, nullptr); });
  if (options.strict) {
    compare_runs(report.files, extracts);
    check_overlaps_by_system(submission, report.files, extracts);
    check_results(submission, report, extracts);
  }
  for (FileCheck& file : report.files) sort_findings(file.findings);
  return report;
}

}  // namespace bench::mlperf
