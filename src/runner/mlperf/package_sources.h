// What a package is made of: kept runs of trainings, and logs that lie somewhere.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/package/package.h"
#include "results/run_records.h"
#include "runner/commands/command.h"

namespace bench {

struct PackageSources {
  std::vector<mlperf::PackagedLog> logs;
  std::vector<RunRecords> runs;       // whose hosts' facts describe the system
  std::vector<std::string> commands;  // by which these were made
};

/// Each word is a folder of a run, a log, a folder of logs, or the id of a run. `facts`: runs that
/// only describe the system. Throws Error(input) for a word that is none of these, a run without
/// lines of MLPerf's log, or a log of more than 1 GiB.
PackageSources package_sources(const std::vector<std::string>& words,
                               const std::vector<std::string>& facts,
                               const ReadingOptions& options);

}  // namespace bench
