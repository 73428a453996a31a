// Contents of one run directory: the plan and every record received. Reading is tolerant, as a run
// may have been killed in the middle of a line: unreadable parts are skipped and listed in
// `warnings`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"

namespace bench {

/// Written by benchctl when a run ends or is interrupted (job "", value {"state": "finished" or
/// "interrupted", "seconds": wall time}). Without it the run was killed or is still running.
inline constexpr const char* kRunEndEvent = "run_end";

/// Event of a job (value {"why": text}) after an outcome, if it could not run for an external
/// reason: an interruption or an excluded host. `benchctl resume` runs it.
inline constexpr const char* kNotRunEvent = "not_run";
/// Event of a job (value {"host", "why"}): one of its hosts dropped out. One for each such host of
/// a failed job; for a job that was not run because of it, only the first.
inline constexpr const char* kHostOutEvent = "host_out";
/// Event of a job: it restarts. Its earlier records do not count.
inline constexpr const char* kRestartEvent = "restart";

/// The part of a planned job that conclusions need. Read leniently from plan.json (core's
/// job_from_json is strict): a run that an older benchctl planned must stay readable.
struct PlannedJob {
  std::string id;
  std::string case_name;
  std::string probe;
  std::string device = "host";
  Json params = Json::object();
  Json part = Json::object();  // the device, rail or card it was on; empty for whole hosts
  std::vector<std::string> hosts;
  int ranks = 1;
  std::string binding;
  int repeat = 0;
  std::uint64_t seed = 0;
  std::string skipped;         // why it was planned as skipped; empty for a job to run
  std::string search_of = {};  // the job whose failure or slowness it helps to locate
};

/// How far records.jsonl has been read.
struct SpoolPosition {
  std::uintmax_t bytes = 0;
  std::size_t lines = 0;                   // complete ones
  std::size_t unreadable = 0;              // lines among them
  std::vector<std::string> warnings = {};  // on the first of the unreadable lines
};

struct RunRecords {
  std::string run;               // its ID
  std::string plan_lost = {};    // why plan.json cannot say what was asked for; "" if it can
  Json plan = Json::object();    // plan.json without its jobs
  std::vector<PlannedJob> jobs;  // in plan order, planned skips included
  std::vector<Record> records;   // in the order of arrival; none from before a restart of its job
  std::vector<std::string> warnings;
  SpoolPosition position = {};
};

/// Jobs without an outcome, with kNotRunEvent after it or kPreventedEvent before it, in plan order;
/// without planned skips.
/// With `failed`, also jobs that failed or timed out.
std::vector<std::string> missing_jobs(const RunRecords& run, bool failed = false);

/// Throws Error(input) when the folder holds neither plan.json nor records.jsonl,
/// Error(environment) when one of them is there and cannot be opened. Anything wrong inside them is
/// a warning.
RunRecords read_run(const std::filesystem::path& run_dir);

/// Brings `run` up to date with a run that is still being written: reads the plan again, and of the
/// records only those appended since the last call. The result is that of read_run().
void read_appended(const std::filesystem::path& run_dir, RunRecords& run);

/// The plan and its jobs, without records; empty if there is no plan.
RunRecords read_planned(const std::filesystem::path& run_dir);

}  // namespace bench
