// The facts of one run as the official scorer reads them: the single source of times and
// evaluations for scores, strict checks and imports.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "mlperf/log/log.h"

namespace bench::mlperf {

/// A line with the key eval_accuracy (or eval_error, which the convergence check also accepts).
struct Evaluation {
  std::int64_t line = 0;
  double time_ms = 0.0;
  std::string key = {};
  PythonValue value = {};
  std::optional<double> samples_count = {};  // from its metadata, if they are numbers
  std::optional<double> epoch_num = {};
};

struct Seed {
  std::int64_t line = 0;
  std::string file = {};       // from its metadata: where the seed was logged; repr if not a string
  std::string code_line = {};  // repr of metadata.lineno
  bool has_place = false;      // has both, as the official seed check requires
  PythonValue value = {};
};

struct RunFacts {
  std::optional<double> init_start_ms = {};  // the first
  std::optional<double> init_stop_ms = {};   // the first
  /// As in the official summarizer: reads until both are known, and keeps the last of each before
  /// that point. So with two run_start followed by two run_stop: the second start, the first stop.
  std::optional<double> run_start_ms = {};
  std::optional<double> run_stop_ms = {};
  std::int64_t run_start_line = 0;
  std::int64_t run_stop_line = 0;
  bool started = false;  // has a run_start
  bool stopped = false;  // has a run_stop
  /// Its first eval_accuracy is above submission_benchmark.
  bool evaluated_before_named = false;
  std::string status = {};  // metadata.status of the last run_stop; "" if there is none
  /// (run_stop - run_start) / 60 / 1000, rounded in this order; NaN if one is missing.
  double minutes = std::numeric_limits<double>::quiet_NaN();

  // Strings as first logged; "" if missing or not a string.
  std::string benchmark = {};
  std::string division = {};
  std::string org = {};
  std::string platform = {};
  std::string submission_status = {};            // "onprem", "cloud", "research"
  std::optional<double> global_batch_size = {};  // as last logged, if it is a number

  std::vector<Evaluation> evaluations = {};
  /// The last evaluation before the last run_stop: the training length. Empty without a run_stop.
  std::optional<Evaluation> last_before_stop = {};
  std::vector<Seed> seeds = {};
};

RunFacts facts_of(const Log& log);

/// A number in the metadata of a line.
std::optional<double> metadata_number(const LogEntry& entry, std::string_view key);
/// A string in the metadata of a line; "" if missing or not a string.
std::string_view metadata_text(const LogEntry& entry, std::string_view key);

}  // namespace bench::mlperf
