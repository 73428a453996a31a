// Indexes the runs of a night, and stores its findings in them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "results/file_system.h"
#include "results/nightly/finding.h"
#include "results/run_summary.h"

namespace bench {

struct Taken {
  RunSummary report;    // also if the database could not index the run
  bool indexed = true;  // false: the reason was logged
};

/// `hurry`: after ^C, do not wait for other writers.
Taken take_run(const std::filesystem::path& run, const std::filesystem::path& database, bool hurry);

/// Merges the runs of the nodes, which are parts of one plan.
void add_part(RunSummary part, RunSummary& whole);

/// Held while a night runs, as two would disturb each other. Throws Error(environment) naming the
/// holder.
std::unique_ptr<FileLock> lock_night(const std::filesystem::path& database);

/// Appends the findings of the run to it as events (kFindingEvent), for rebuilt databases. Returns
/// whether there were any. Throws Error(environment).
bool write_findings(const std::filesystem::path& run, const std::vector<NightFinding>& findings);

}  // namespace bench
