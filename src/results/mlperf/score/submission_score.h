// Scores of all that lies below a path: entries, and the table of systems and benchmarks in which
// MLPerf publishes a round. Nothing is written into the tree, and nothing hangs on what was written
// there before except scaling.json, whose factor is compared with our own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "results/mlperf/published/system_description.h"
#include "results/mlperf/rcp/rcp_files.h"
#include "results/mlperf/score/entry_score.h"
#include "results/mlperf/submission/submission.h"
#include "results/reports/text_style.h"

namespace bench::mlperf {

struct SystemRow {
  std::string submitter = {}, system = {};  // names of folders
  std::optional<SystemDescription> description = {};
  std::vector<std::size_t> entries = {};  // of SubmissionScore
};

struct SubmissionScore {
  std::filesystem::path root = {};
  std::vector<EntryScore> entries = {};
  std::vector<SystemRow> systems = {};       // by division, submitter, system
  std::vector<std::string> benchmarks = {};  // columns of the table, sorted
  std::vector<std::string> warnings = {};
  RcpSets reference = {};  // of the entries' benchmarks
  ExitCode exit_code = ExitCode::ok;
};

struct SubmissionScoreSettings : ScoreSettings {
  std::string ruleset = "auto";
  std::optional<std::filesystem::path> rcp_dir = {};  // published files instead of ours
};

/// Throws Error(input) for a round that is not known. exit_code: failed where an entry has no valid
/// score, not_measured where all that is missing is knowledge of its benchmark.
SubmissionScore score_submission(const Submission& submission,
                                 const SubmissionScoreSettings& settings);

/// Schema: schemas/report_mlperf_score.json.
Json to_json(const SubmissionScore& score);
/// Of few entries all there is to say; of many the table, and what is in the way of a score.
/// `details`: all of every entry.
std::string to_text(const SubmissionScore& score, bool details, const TextStyle& style);
/// The table with the official summarizer's columns and a note; RFC 4180, lines end in CRLF.
std::string to_csv(const SubmissionScore& score);
std::string to_html(const SubmissionScore& score);

}  // namespace bench::mlperf
