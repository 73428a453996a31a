// Scores everything below a path: the entries, and the table of systems and benchmarks in which
// MLPerf publishes a round. Only reads the tree. Of the files that official tools write there, only
// scaling.json is used, and its factor is compared with the computed one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "mlperf/log/log.h"
#include "mlperf/log/run_facts.h"
#include "mlperf/rcp/rcp_files.h"
#include "mlperf/rules/official_check.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/score/entry_score.h"
#include "mlperf/submission/submission.h"
#include "mlperf/submission/system_description.h"

namespace bench::mlperf {

struct SystemRow {
  std::string submitter = {}, system = {};  // folder names
  std::optional<SystemDescription> description = {};
  std::vector<std::size_t> entries = {};  // of SubmissionScore
};

struct SubmissionScore {
  std::filesystem::path root = {};
  std::vector<EntryScore> entries = {};
  std::vector<SystemRow> systems = {};       // by division, submitter, system
  std::vector<std::string> benchmarks = {};  // table columns, sorted
  std::vector<std::string> warnings = {};
  RcpSets reference = {};  // for the entries' benchmarks
  ExitCode exit_code = ExitCode::ok;

  /// The entry of a row for a benchmark; nullptr if there is none.
  const EntryScore* entry_at(const SystemRow& row, const std::string& benchmark) const;
};

struct SubmissionScoreSettings : ScoreSettings {
  std::string ruleset = "auto";
  std::optional<std::filesystem::path> rcp_dir =
      {};  // published files instead of the bundled points
};

/// Throws Error(input) for an unknown round. exit_code: failed if an entry has no valid score,
/// not_measured if the only cause is an unknown benchmark.
SubmissionScore score_submission(const Submission& submission,
                                 const SubmissionScoreSettings& settings);

// The same in two steps, for a caller that reads the logs itself.

/// `rules` and `reason`: the choice of choose_round(); `verdict`: of official_check() by them.
ReadRun run_of_log(const Log& log, RunFacts facts, const RuleSet& rules, std::string reason,
                   const OfficialVerdict& verdict);
/// `runs`: of all logs, those of entries first. Reads those again that are not of the newest round
/// among them.
SubmissionScore score_runs(const Submission& submission, std::vector<ReadRun> runs,
                           const SubmissionScoreSettings& settings);

}  // namespace bench::mlperf
