// What one run says, derived from its records alone: the same records give the same report. The
// terminal text (run_report_text.h), the JSON and the database all show this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/json_document.h"
#include "results/diagnosis/diagnosis.h"
#include "results/gates.h"
#include "results/job_results.h"
#include "results/localisation/localisation.h"
#include "results/localisation/straggler.h"
#include "results/result_hashes.h"
#include "results/run_records.h"
#include "results/series.h"
#include "results/series_telemetry.h"

namespace bench {

struct Result {
  Series series;                   // without a metric: the end of a job that its series do not show
  std::optional<Verdict> verdict;  // the worst of its gates; nothing without gates
  std::optional<SeriesTelemetry> telemetry = {};
};

/// One host of the run and what is known about it.
struct Machine {
  std::string host;
  /// Topic "host" over topic "topology", without "hurts"; "gpus" as NVML told them.
  Json facts = Json::object();
  std::vector<std::string> hurts;
  double clock_hz = kNoValue;  // the measured clock.frequency
};

struct RunReport {
  std::string run;
  std::string suite;
  std::string digest;
  std::int64_t time_ns = 0;
  double seconds = kNoValue;
  Json labels = Json::object();
  Status outcome = Status::ok;
  ExitCode exit_code = ExitCode::ok;
  bool finished = false;     // benchctl saw the end of the run
  bool interrupted = false;  // by ^C
  std::vector<JobResult> jobs;
  std::vector<Result> results;
  std::vector<GateResult> gates;  // GateResult::series is an index into results
  std::vector<Machine> machines;
  Json programs = Json::array();                // topic "program" facts, each once; benchctl first
  std::vector<ResultHash> hashes;               // of results that must be equal bit for bit
  std::vector<Localisation> localisations;      // who makes jobs of several hosts fail or slow
  std::vector<FoundStraggler> stragglers;       // ranks that the others wait for
  std::vector<diagnosis::Diagnosed> diagnoses;  // of trainings, loaders and checkpoints
  std::map<std::string, Json> loaders;          // what loaders said of themselves, by job
  std::vector<std::string> warnings;
};

/// The outcome of a run is the worst of its jobs, but for those of a search: they fail where
/// another has failed. Planned skips count only when everything was
/// skipped; a job that was asked for and not run counts as failed. Exit code: 130 when interrupted;
/// 1 when a gate failed, a result is invalid or equal devices have unequal results (a wrong number
/// weighs more than a missing one); 3 when a job failed, timed out or was not run, when a gate had
/// nothing to judge, or all was skipped; else 0.
RunReport make_run_report(const RunRecords& run);

/// By schemas/report.json.
Json to_json(const RunReport& report);

/// The text of to_json(), a piece at a time (core/json_document.h).
void write_json(const RunReport& report, const Write& write);

}  // namespace bench
