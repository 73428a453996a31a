// Summary of one run, derived from its records only: equal records give equal summaries. Stored in
// the database; verdicts on it are in results/output/run/run_report.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "results/run/conclusion.h"
#include "results/run/gates.h"
#include "results/run/job_results.h"
#include "results/run/result_hashes.h"
#include "results/run/run_records.h"
#include "results/run/series.h"
#include "results/run/series_telemetry.h"

namespace bench {

struct Result {
  Series series;                   // without a metric: the end of a job that its series do not show
  std::optional<Verdict> verdict;  // the worst of its gates; nothing without gates
  std::optional<SeriesTelemetry> telemetry = {};
};

/// One host of the run with its facts.
struct Machine {
  std::string host;
  /// Topic "host" over topic "topology", without "warnings"; "gpus" from NVML.
  Json facts = Json::object();
  std::vector<std::string> warnings;  // about its settings, its GPUs, its clock and its storage
  double clock_hz = kNoValue;         // the measured clock.frequency
};

struct RunSummary {
  std::string run;
  std::string suite;
  std::string digest;
  std::int64_t time_ns = 0;
  double seconds = kNoValue;
  Json labels = Json::object();
  Status outcome = Status::ok;
  Conclusion conclusion = {};
  ExitCode exit_code = ExitCode::ok;  // of the conclusion
  /// What was asked for and is not judged, and why: jobs, gates, `damage`.
  std::vector<std::string> unjudged = {};
  std::vector<std::string> damage = {};  // of plan and records: what was lost is not known
  bool finished = false;                 // benchctl saw the end of the run
  bool interrupted = false;              // by ^C
  std::vector<JobResult> jobs;
  std::vector<Result> results;
  std::vector<GateResult> gates;  // GateResult::series is an index into results
  std::vector<Machine> machines;
  Json programs = Json::array();               // topic "program" facts, each once; benchctl first
  std::vector<ResultHash> hashes;              // of results that must be equal bit for bit
  std::map<std::string, Json> loaders;         // facts of data loaders, by job
  std::map<std::string, Json> gemm_libraries;  // that were tried, by job
  std::vector<std::string> warnings;
};

/// The outcome of a run is the worst of its jobs, except search jobs, which fail where another job
/// has failed. Planned skips count only if everything was skipped; a requested job that was not run
/// counts as failed. The exit code follows from what was asked for: 130 if interrupted; 1 if a gate
/// failed, a result is invalid or identical devices disagree (a wrong number weighs more than a
/// missing one); 3 if a job failed, timed out or was not run, a series has no clean samples, a gate
/// had no clean data, all jobs were skipped, or the plan or records are damaged; else 0.
RunSummary make_run_summary(const RunRecords& run);

using PlannedJobs = std::map<std::string, const PlannedJob*>;

/// Jobs of a run by ID; points into the summary.
PlannedJobs jobs_by_id(const RunSummary& report);

}  // namespace bench
