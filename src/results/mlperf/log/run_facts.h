// What a log says about its run, in the official scorer's reading: the one place that scores,
// strict checks and imports take times and evaluations from.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "results/mlperf/log/log.h"

namespace bench::mlperf {

/// A line with key eval_accuracy (or eval_error, as the reference convergence check accepts).
struct Evaluation {
  std::int64_t line = 0;
  double time_ms = 0.0;
  std::string key = {};
  PythonValue value = {};
  std::optional<double> samples_count = {};  // of its metadata, where they are numbers
  std::optional<double> epoch_num = {};
};

struct Seed {
  std::int64_t line = 0;
  std::string file = {};       // of its metadata: where the seed was logged; repr where no text
  std::string code_line = {};  // repr of metadata.lineno
  bool has_place = false;      // both are there: the official seed check needs them
  PythonValue value = {};
};

struct RunFacts {
  std::optional<double> init_start_ms = {};  // the first
  std::optional<double> init_stop_ms = {};   // the first
  /// As the official summarizer takes them: read on until both are known; of several, the last one
  /// before that. So with two run_start and two run_stop: the second start, the first stop.
  std::optional<double> run_start_ms = {};
  std::optional<double> run_stop_ms = {};
  std::int64_t run_start_line = 0;
  std::int64_t run_stop_line = 0;
  bool started = false;     // a run_start is there
  bool stopped = false;     // a run_stop is there
  std::string status = {};  // metadata.status of the last run_stop; "" where there is none
  /// (run_stop - run_start) / 60 / 1000, in this order of rounding; NaN where one is missing.
  double minutes = std::numeric_limits<double>::quiet_NaN();

  // Texts as first logged; "" where missing or no text.
  std::string benchmark = {};
  std::string division = {};
  std::string org = {};
  std::string platform = {};
  std::string submission_status = {};            // "onprem", "cloud", "research"
  std::optional<double> global_batch_size = {};  // as last logged, where it is a number

  std::vector<Evaluation> evaluations = {};
  /// The last one above the last run_stop: how far this run had to train. Without a run_stop: none.
  std::optional<Evaluation> last_before_stop = {};
  std::vector<Seed> seeds = {};
};

RunFacts facts_of(const Log& log);

/// A number in the metadata of a line.
std::optional<double> metadata_number(const LogEntry& entry, std::string_view key);
/// A text there; "" where it is missing or no text.
std::string_view metadata_text(const LogEntry& entry, std::string_view key);

}  // namespace bench::mlperf
