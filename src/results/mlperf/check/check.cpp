#include "results/mlperf/check/check.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "results/mlperf/check/resubmission.h"
#include "results/mlperf/check/result_check.h"
#include "results/mlperf/log/log.h"
#include "results/mlperf/log/run_facts.h"
#include "results/mlperf/published/system_description.h"
#include "results/mlperf/rules/official_check.h"
#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/rules/rule_set_choice.h"
#include "results/mlperf/strict/runs_check.h"
#include "results/mlperf/strict/strict_check.h"
#include "results/mlperf/submission/possible_rounds.h"

namespace bench::mlperf {
namespace {

/// The position of a log in the submission.
struct Place {
  const SubmissionEntry* entry = nullptr;
  std::optional<std::size_t> folder = {};
  std::optional<std::int64_t> accelerators = {};
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
    const Place place{&entry, i, system ? system->accelerators() : std::nullopt};
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

RuleSetChoice choose(const Log& log, const CheckOptions& options,
                     const std::vector<RuleSet>& known) {
  if (options.rule_set != "auto") return {.version = known.front().version, .reason = "selected by --ruleset"};
  if (known.size() > 1) return choose_rule_set(log, known);
  return {.version = known.front().version,
          .reason = "the only round with all benchmarks in these folders: " + known.front().round};
}

const RuleSet& rules_of(const std::string& version, const std::vector<RuleSet>& known) {
  return *std::find_if(known.begin(), known.end(),
                       [&](const RuleSet& set) { return set.version == version; });
}

void add_strict(const Log& log, const RunFacts& facts, const RuleSet& rules, const Place& place,
                FileCheck& file) {
  Subject subject{.log = log, .facts = facts, .rules = rules};
  subject.accelerators = place.accelerators;
  if (place.entry != nullptr) {
    subject.submitter = place.entry->submitter;
    subject.folder = place.entry->benchmark;
  }
  std::vector<Finding> findings = strict_check(subject);
  std::move(findings.begin(), findings.end(), std::back_inserter(file.findings));
}

FileCheck check_log(const Log& log, const Place& place, const CheckOptions& options,
                    const RuleSetChoice& choice, const RuleSet& rules, RunExtract& extract) {
  OfficialVerdict verdict = official_check(log, rules, options.warnings_are_errors);
  RunFacts facts = facts_of(log);
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
  std::map<std::filesystem::path, std::pair<std::vector<const RunExtract*>, std::vector<FileCheck*>>>
      systems;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].folder) continue;
    auto& [extract, system_files] = systems[submission.entries[*files[i].folder].folder.parent_path()];
    extract.push_back(&runs[i]);
    system_files.push_back(&files[i]);
  }
  for (auto& [system, lists] : systems) add(check_overlaps(lists.first), lists.second);
}

void check_results(const Submission& submission, CheckReport& report,
                   std::span<const RunExtract> runs) {
  ReferencePoints reference;
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

CheckReport check_submission(const Submission& submission, const CheckOptions& options) {
  const LogList work = log_list_of(submission);
  const std::vector<RuleSet> known =
      possible_rounds(submission, options.rule_sets, options.rule_set);
  CheckReport report{.strict = options.strict, .folders = folders_of(submission, options.strict)};
  report.files.resize(work.paths.size());
  std::vector<RunExtract> runs(work.paths.size());
  std::vector<LogChoice> choices(work.paths.size());
  const auto check = [&](std::size_t i, const Log& log) {
    const RuleSetChoice& choice = choices[i].choice;
    report.files[i] =
        check_log(log, work.places[i], options, choice, rules_of(choice.version, known), runs[i]);
  };
  read_logs(work.paths, [&](std::size_t i, const Log& log) {
    choices[i].choice = choose(log, options, known);
    check(i, log);
    choices[i].benchmark = report.files[i].benchmark;
    if (work.places[i].entry != nullptr)
      choices[i].organisation = work.places[i].entry->organisation;
  });
  const std::vector<std::size_t> changed = apply_newest_round(choices, known);
  std::vector<std::filesystem::path> paths;
  for (const std::size_t i : changed) paths.push_back(work.paths[i]);
  read_logs(paths, [&](std::size_t k, const Log& log) { check(changed[k], log); });
  if (options.strict) {
    compare_runs(report.files, runs);
    check_overlaps_by_system(submission, report.files, runs);
    check_results(submission, report, runs);
  }
  for (FileCheck& file : report.files) sort_findings(file.findings);
  return report;
}

}  // namespace bench::mlperf
