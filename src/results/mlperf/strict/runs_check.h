// What only several logs together show: files that are copies, runs of one result that share a seed
// or differ in their hyperparameters, runs that overlap in time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/mlperf/finding.h"
#include "results/mlperf/log/log.h"
#include "results/mlperf/log/run_facts.h"

namespace bench::mlperf {

/// What is kept of a log once it is read.
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
  std::size_t run = 0;  // index of the run it is told of
  Finding finding = {};
};

/// Runs of one result.
std::vector<RunFinding> check_runs(std::span<const RunExtract> runs);

/// Of all runs at hand: those whose file is another's, byte for byte (read and compared, where the
/// digests agree).
std::vector<RunFinding> check_copies(std::span<const RunExtract> runs);

/// Runs of one system, of whatever benchmark.
std::vector<RunFinding> check_overlaps(std::span<const RunExtract* const> runs);

}  // namespace bench::mlperf
