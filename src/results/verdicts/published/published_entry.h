// One result of a submission for tables, scaling and comparison: the runs of a benchmark on a
// system, their score, and the system description.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "mlperf/score/submission_score.h"
#include "mlperf/submission/system_description.h"
#include "results/stats/olympic_mean.h"

namespace bench::mlperf {

struct PublishedRun {
  std::string file = {};  // name of the log
  /// It passed the official check and reached its target, so it enters the mean.
  bool counts = false;
  std::string failure = {};   // why not
  double minutes = kNoValue;  // run_start to run_stop
  double samples =
      kNoValue;  // samples or epochs to the target, at the last evaluation before run_stop
  std::int64_t start_ms = 0;  // UTC, since 1970; 0 if unknown
  Digest digest = 0;          // of the log: equal for copies
};

struct PublishedEntry {
  /// Folder names; the log may name another submitter.
  std::string submitter = {}, system = {}, benchmark = {};
  std::string division = {};  // from the description, else from the logs
  SystemDescription description = {};
  std::string no_description = {};  // why there is none; "" otherwise
  std::vector<PublishedRun> runs = {};
  double olympic_minutes = kNoValue;     // as in the official scorer
  double scaling_factor = 1.0;           // of the reference convergence test
  double score_minutes = kNoValue;       // their product, as published
  std::string no_score = {};             // why there is none
  double samples = kNoValue;             // olympic mean of the runs
  std::string samples_unit = "samples";  // or "epochs"
  double global_batch_size = kNoValue;
  double energy_joules = kNoValue;  // of a run; NaN without power logs
};

/// From the description; 0 if unknown.
double accelerators_of(const PublishedEntry& entry);
/// Why their number is unknown, safe to print; "" if known.
std::string why_no_accelerators(const PublishedEntry& entry);
/// The accelerator's name, else the processor's; "" if both are unknown.
std::string hardware_name(const PublishedEntry& entry);
/// "llama31_8b of NVIDIA theia_ngpu8": safe to print.
std::string entry_label(const PublishedEntry& entry);

/// The seconds of the counted runs.
std::vector<double> counted_seconds(const PublishedEntry& entry);
/// In seconds, with its interval over runs; other runs count as infinite.
OlympicMean olympic_seconds(const PublishedEntry& entry);
/// Samples (or epochs) to the target per second, of all accelerators together.
double samples_per_second(const PublishedEntry& entry);
/// Score times accelerators: derived, not an MLPerf metric. kNoValue without accelerators.
double accelerator_minutes(const PublishedEntry& entry);

/// True if submitter, system, system name, accelerator, processor or framework contain all words of
/// `words` (split at spaces, '-' and '_'), ignoring case. No words match everything.
bool matches_words(const PublishedEntry& entry, const std::string& words);

struct PublishedChoice {
  std::vector<std::string> benchmarks = {};  // folder names; empty: all
  std::string words = {};                    // matches_words()
};
/// Throws Error(input) with the nearest name for an unknown benchmark.
std::vector<PublishedEntry> chosen_entries(std::vector<PublishedEntry> entries,
                                           const PublishedChoice& choice);

// Builds published entries from scores, so that scaling, comparison and import agree with `mlperf
// score`.

std::vector<PublishedEntry> published_entries(const SubmissionScore& score);

/// Finds, scores and converts the results below a path. Throws like find_submission() and
/// score_submission(), and Error(input) if there is no folder with result_*.txt.
std::vector<PublishedEntry> read_published(const std::filesystem::path& path,
                                           const SubmissionScoreSettings& settings = {});

}  // namespace bench::mlperf
