// The sources of a package: stored training runs and log files.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/package/package.h"
#include "results/run_records.h"
#include "runner/commands/command.h"

namespace bench {

struct PackageSources {
  std::vector<mlperf::PackagedLog> logs;
  std::vector<RunRecords> runs;       // their host facts describe the system
  std::vector<std::string> commands;  // commands that produced the logs
};

/// Each word is the folder or ID of a run, a log, or a folder of logs. `facts`: runs that only
/// describe the system. Throws Error(input) for anything else, a run without MLLOG lines, or a log
/// over 1 GiB.
PackageSources package_sources(const std::vector<std::string>& words,
                               const std::vector<std::string>& facts,
                               const ReadingOptions& options);

}  // namespace bench
