// Writes a folder in the layout of an MLPerf submission:
//   SUBMITTER/systems/SYSTEM.json
//   SUBMITTER/results/SYSTEM/BENCHMARK/result_0.txt ...
//   SUBMITTER/benchmarks/BENCHMARK/implementations/IMPLEMENTATION/README.md
// A package is not a result yet: it lists what is still to do by hand.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "mlperf/package/describe_system.h"
#include "mlperf/score/submission_score.h"

namespace bench::mlperf {

struct PackagedLog {
  std::string from;  // used in messages
  std::string text;
};

struct PackageRequest {
  std::filesystem::path folder = {};  // SUBMITTER/ is created in it
  /// Folder names: letters, digits, '.', '_', '+' and '-'.
  std::string submitter = {}, system = {}, benchmark = {}, implementation = "benchctl";
  std::vector<PackagedLog> logs = {};  // become result_<i>.txt in this order
  DescribedSystem description = {};
  std::vector<std::string> commands = {};  // training commands, one per line
};

struct Package {
  std::filesystem::path folder = {};  // SUBMITTER/
  std::vector<std::filesystem::path> files = {};
  std::size_t filled = 0;  // lines with a replaced placeholder
  std::vector<TodoItem> todo = {};
};

/// Never replaces files; an existing description of the system is kept. Throws Error(usage) for
/// invalid folder names, and Error(input) without logs or for existing results, before anything is
/// written.
Package write_package(const PackageRequest& request);

/// Replaces the placeholders of training scripts in a log (SUBMISSION_ORG_PLACEHOLDER,
/// SUBMISSION_PLATFORM_PLACEHOLDER as the value of submission_org, submission_platform) and nothing
/// else. `filled` counts the lines.
std::string replace_placeholders(const std::string& log, const std::string& submitter,
                                 const std::string& system, std::size_t& filled);

/// The division that the logs state, with which `wanted` ("" for none) must agree; `wanted`, or
/// "open", if none states one. Throws Error(input) naming two logs that disagree, or one that
/// disagrees with `wanted`: the division changes the score.
std::string division_of(const std::vector<PackagedLog>& logs, const std::string& wanted);

// Selects the logs to submit: as many as the benchmark requires; of more, the N consecutive ones by
// launch time with the median score (MLPerf training rules, "Run Results").

struct ChosenLogs {
  std::vector<PackagedLog> logs;      // in launch order if some were skipped
  std::vector<std::string> left_out;  // PackagedLog::from
};

/// `score`: of an entry with these logs as its runs, in this order.
ChosenLogs chosen_logs(const std::vector<PackagedLog>& logs, const EntryScore& score);

/// Open tasks from the score: missing or failed runs, an unknown benchmark, twins on generated
/// data.
std::vector<TodoItem> todo_items(const EntryScore& score, const std::vector<PackagedLog>& logs);

}  // namespace bench::mlperf
