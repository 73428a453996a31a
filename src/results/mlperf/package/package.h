// A folder in the layout in which results are submitted to MLPerf:
//   SUBMITTER/systems/SYSTEM.json
//   SUBMITTER/results/SYSTEM/BENCHMARK/result_0.txt ...
//   SUBMITTER/benchmarks/BENCHMARK/implementations/IMPLEMENTATION/README.md
// No package is a result: what a person must still do is named beside it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/package/describe_system.h"

namespace bench::mlperf {

struct PackagedLog {
  std::string from;  // in messages
  std::string text;
};

struct PackageRequest {
  std::filesystem::path folder = {};  // SUBMITTER/ is made in it
  /// Become names of folders: letters, digits, '.', '_', '+' and '-'.
  std::string submitter = {}, system = {}, benchmark = {}, implementation = "benchctl";
  std::vector<PackagedLog> logs = {};  // in the order of result_<i>.txt
  DescribedSystem description = {};
  std::vector<std::string> commands = {};  // by which it was trained, one a line
};

struct Package {
  std::filesystem::path folder = {};  // SUBMITTER/
  std::vector<std::filesystem::path> files = {};
  std::size_t filled = 0;  // lines in which a placeholder became the submitter or the system
  std::vector<TodoItem> todo = {};
};

/// Nothing that is there is replaced, except that a description of the same system stays. Throws
/// Error(usage) for names that no folder of a submission may have, Error(input) for no logs and for
/// results that are there already, before anything is written.
Package write_package(const PackageRequest& request);

/// The log with the placeholders that training scripts leave (SUBMISSION_ORG_PLACEHOLDER,
/// SUBMISSION_PLATFORM_PLACEHOLDER as the value of submission_org, submission_platform) replaced.
/// Nothing else is touched. `filled` counts the lines.
std::string replace_placeholders(const std::string& log, const std::string& submitter,
                       const std::string& system, std::size_t& filled);

}  // namespace bench::mlperf
