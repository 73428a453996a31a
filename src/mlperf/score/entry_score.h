// The score of one entry of a submission: the runs of one benchmark on one system. Reports must add
// kNotVerified (core/disclaimer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/log/log.h"
#include "mlperf/log/run_facts.h"
#include "mlperf/rcp/rcp_set.h"
#include "mlperf/score/run_energy.h"

namespace bench::mlperf {

// Selects N of M > N runs (MLPerf training rules, "Scoring"): sorts the runs by launch, scores each
// window of N consecutive runs, and takes the window with the median score.

struct RunWindow {
  std::vector<std::size_t> runs = {};  // selected runs in launch order
  std::size_t first = 0;               // index of the window, from 0
  std::vector<double> means = {};      // olympic mean of every window; infinite for an invalid one
};

/// `launch_ms`: launch time of each run; runs without one (NaN) come last. `minutes`: infinity for
/// a failed run. `count`: from 1 to the number of runs. With an even number of windows, takes the
/// slower of the middle two: the rules ask for the one closest to the median, and both are equally
/// close. On a tie, the earlier window.
RunWindow median_window(std::span<const double> launch_ms, std::span<const double> minutes,
                        std::size_t count);

/// The data of one log that the score needs.
struct ReadRun {
  std::filesystem::path file = {};
  Digest digest = 0;  // of the log
  RunFacts facts = {};
  double launch_ms = kNoValue;  // time of the first init_start, else run_start, else the first line
  bool compliant = false;       // by the official checker
  std::string failed = {};      // its first failure; "" if it complies
  std::string ruleset = {};     // used for the check
  std::string ruleset_reason = {};
  std::int64_t required_runs = 0;  // of its benchmark in that round; 0: unknown
  std::optional<RunEnergy> energy = {};
};

enum class RunUse { counted, fastest, slowest, failed, outside };
/// "counted", "fastest" and "slowest" (dropped as such), "failed", "outside" (the chosen window).
std::string_view to_string(RunUse use);

struct ScoredRun {
  ReadRun read = {};
  double minutes = kNoValue;    // run_start to run_stop; NaN if one is missing
  double converged = kNoValue;  // samples or epochs at the last evaluation; infinity: not converged
  RunUse use = RunUse::counted;
  std::string why = {};  // why it does not count
};

/// The same runs compared with the reference at another batch. Derived.
struct WhatIf {
  RcpTest test = {};
  /// The time with the reference's convergence at that batch and the throughput of these runs.
  double minutes_at_reference = kNoValue;
};

struct EntryScore {
  std::string submitter = {}, system = {}, benchmark = {};  // folder names
  std::filesystem::path folder = {};
  std::string division = {};  // "closed", "open", or another value of a log or systems/SYSTEM.json
  std::string ruleset = {}, ruleset_reason = {};
  std::int64_t required_runs = 0;  // 0: unknown
  std::vector<ScoredRun> runs = {};
  std::optional<RunWindow> window = {};    // if there are more runs than required
  double mean_minutes = kNoValue;          // the olympic mean; of two runs or one, the plain mean
  double olympic_mean_minutes = kNoValue;  // of three runs or more
  std::string reference = {};              // the benchmark whose reference points are used
  std::optional<RcpTest> rcp = {};
  std::string rcp_why = {};                // why there was no test
  std::optional<double> file_factor = {};  // from scaling.json
  double scaling_factor = 1.0;             // from the file if present, else from the test
  double score_minutes = kNoValue;         // NaN if there are `problems`
  double provisional_minutes = kNoValue;   // mean times factor, in spite of problems
  /// Mean of the runs that count for the time, times the factor; NaN without power logs.
  double energy_joules = kNoValue;
  std::vector<WhatIf> what_if = {};
  std::vector<std::string> problems = {}, warnings = {};

  bool valid() const { return problems.empty(); }
};

struct ScoreSettings {
  std::vector<double> batches = {};  // batches for what_if
  bool rcp_bypass = false;           // treat a failed test as a warning
};

/// Scores an entry with at least one run. `set`: nullptr if the round has no points for the
/// benchmark; then `required_runs` must be set.
void score_entry(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings);

/// Reads "scaling_factor" from a file; throws Error(input) if it is not a positive number.
double read_scaling_factor(const std::filesystem::path& path);

/// The training length in the unit of the benchmark's points: samples_count, or epoch_num rounded
/// to three places as in the official checker; infinity without success, NaN if not logged.
double convergence_point(const RunFacts& facts, std::string_view unit);

}  // namespace bench::mlperf
