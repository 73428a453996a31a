// Checks across logs: copied files, runs of one result with the same seed or different
// hyperparameters, runs that overlap in time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mlperf/finding.h"
#include "mlperf/log/log.h"
#include "mlperf/log/python_value.h"
#include "mlperf/log/run_facts.h"

namespace bench::mlperf {

// A seed is what Python's int() accepts, by the rules.

/// The digits of the integer; empty if int() would raise an exception.
std::optional<std::string> seed_text(const PythonValue& value);

/// The data of one log that checks across logs need.
struct RunExtract {
  std::filesystem::path path = {};
  std::int64_t bytes = 0;
  Digest digest = 0;
  RunFacts facts = {};
  struct Setting {
    std::string value = {};  // safe to print
    std::int64_t line = 0, column = 0;
  };
  std::map<std::string, Setting> settings = {};  // hyperparameters, as last logged
};
RunExtract extract_run(const Log& log, RunFacts facts);

struct RunFinding {
  std::size_t run = 0;  // index of the run with the finding
  Finding finding = {};
};

/// Runs of one result.
std::vector<RunFinding> check_runs(std::span<const RunExtract> runs);

/// Finds files that are byte-for-byte copies of another one; compares the bytes if the digests
/// agree.
std::vector<RunFinding> check_copies(std::span<const RunExtract> runs);

/// `runs`: all runs of one system, of any benchmark.
std::vector<RunFinding> check_overlaps(std::span<const RunExtract* const> runs);

}  // namespace bench::mlperf
