// The score of one entry of a submission: the runs of one benchmark on one system. Every number of
// it carries kNotVerified (results/mlperf/disclaimer.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/mlperf/log/run_facts.h"
#include "results/mlperf/rcp/rcp_test.h"
#include "results/mlperf/score/run_window.h"

namespace bench::mlperf {

/// What the score needs of one log.
struct ReadRun {
  std::filesystem::path file = {};
  RunFacts facts = {};
  double launch_ms = kNoValue;  // first init_start, else run_start, else the first line
  bool compliant = false;       // by the official checker
  std::string failed = {};      // its first failure; "" where it complies
  std::string ruleset = {};     // that it was checked by
  std::string ruleset_reason = {};
  std::int64_t required_runs = 0;  // of its benchmark by that round; 0: not known
};

enum class RunUse { counted, fastest, slowest, failed, outside };
/// "counted", "fastest" and "slowest" (dropped as such), "failed", "outside" (the chosen window).
std::string_view to_string(RunUse use);

struct ScoredRun {
  ReadRun read = {};
  double minutes = kNoValue;    // run_start to run_stop; NaN where one is missing
  double converged = kNoValue;  // samples or epochs at the last evaluation; infinity: it did not
  RunUse use = RunUse::counted;
  std::string why = {};  // why it does not count
};

/// What the same runs would be at another batch, if they took as many samples: derived.
struct WhatIf {
  RcpTest test = {};
  /// The time if they converged as the reference does there, at the throughput they had.
  double minutes_at_reference = kNoValue;
};

struct EntryScore {
  std::string submitter = {}, system = {}, benchmark = {};  // names of folders
  std::filesystem::path folder = {};
  std::string division = {};  // "closed", "open", or as a log or systems/SYSTEM.json has it
  std::string ruleset = {}, ruleset_reason = {};
  std::int64_t required_runs = 0;  // 0: not known
  std::vector<ScoredRun> runs = {};
  std::optional<RunWindow> window = {};  // of more runs than required
  double olympic_mean_minutes = kNoValue;
  std::string reference = {};  // the benchmark whose points it was held against
  std::optional<RcpTest> rcp = {};
  std::string rcp_why = {};                // why it was not tested
  std::optional<double> file_factor = {};  // of scaling.json
  double scaling_factor = 1.0;             // the file's where there is one, else that of the test
  double score_minutes = kNoValue;         // NaN where something is in the way (`problems`)
  double provisional_minutes = kNoValue;   // the mean times the factor, whatever is in the way
  std::vector<WhatIf> what_if = {};
  std::vector<std::string> problems = {}, warnings = {};

  bool valid() const { return problems.empty(); }
};

struct ScoreSettings {
  std::vector<double> batches = {};  // to say what would be there
  bool rcp_bypass = false;           // a failed test is a warning
};

/// Scores the entry from the runs it holds, at least one. `set`: nullptr where the round has no
/// points of the benchmark; then `required_runs` is taken as it is.
void score_entry(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings);

/// How far a run trained in the unit of the benchmark's points: samples_count, or epoch_num rounded
/// to three places as the official checker does; infinity where it did not end in success, NaN
/// where the log does not tell.
double convergence_point(const RunFacts& facts, std::string_view unit);

}  // namespace bench::mlperf
