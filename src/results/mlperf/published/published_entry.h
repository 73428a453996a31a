// One result of a submission as tables, scalings and comparisons need it: the runs of a benchmark
// on a system, their score, and what the system is. Plain values; published_reader.h makes them
// from folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/json_fields.h"
#include "results/mlperf/published/system_description.h"
#include "results/training/olympic_mean.h"

namespace bench::mlperf {

struct PublishedRun {
  std::string file = {};  // the log's name
  /// It passed the official check and reached its target: it is one of the runs that are averaged.
  bool counts = false;
  std::string trouble = {};   // why not
  double minutes = kNoValue;  // run_start to run_stop
  double samples = kNoValue;  // to the target, or epochs; of the last evaluation before run_stop
  std::int64_t start_ms = 0;  // UTC, since 1970; 0 where it is not known
};

struct PublishedEntry {
  /// The folders' names; a log may be another's.
  std::string submitter = {}, system = {}, benchmark = {};
  std::string division = {};  // of the description, else of the logs
  SystemDescription description = {};
  std::string no_description = {};  // why there is none; "" where there is one
  std::vector<PublishedRun> runs = {};
  double olympic_minutes = kNoValue;     // by the official scorer
  double scaling_factor = 1.0;           // of the reference convergence test
  double score_minutes = kNoValue;       // their product, as published
  std::string no_score = {};             // why there is none
  double samples = kNoValue;             // olympic mean of the runs'
  std::string samples_unit = "samples";  // or "epochs"
  double global_batch_size = kNoValue;
};

/// Of the description; 0 where it tells none.
double accelerators_of(const PublishedEntry& entry);
/// Why their number is not known, safe to print; "" where it is.
std::string why_no_accelerators(const PublishedEntry& entry);
/// The accelerator's name; of a system without one the processor's; "" where neither is told.
std::string hardware_name(const PublishedEntry& entry);
/// "llama31_8b of NVIDIA theia_ngpu8": safe to print.
std::string entry_label(const PublishedEntry& entry);

/// Seconds of the runs that count.
std::vector<double> counted_seconds(const PublishedEntry& entry);
/// In seconds, with its interval over runs; runs that do not count are infinite.
OlympicMean olympic_seconds(const PublishedEntry& entry);
/// Of all accelerators together: samples (or epochs) to the target over the time to it.
double samples_per_second(const PublishedEntry& entry);
/// Score times accelerators: derived, no metric of MLPerf. kNoValue without accelerators.
double accelerator_minutes(const PublishedEntry& entry);

/// What narrows entries down: all words of `words` (cut at spaces, '-' and '_') stand in submitter,
/// system, its name, accelerator, processor or framework, in any case. No words take everything.
bool matches_words(const PublishedEntry& entry, const std::string& words);

struct PublishedChoice {
  std::vector<std::string> benchmarks = {};  // folder names; all for none
  std::string words = {};                    // matches_words()
};
/// Throws Error(input) with the nearest name for a benchmark that none of them has.
std::vector<PublishedEntry> chosen_entries(std::vector<PublishedEntry> entries,
                                           const PublishedChoice& choice);

}  // namespace bench::mlperf
