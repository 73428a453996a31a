// How a night's runs get into the database, and its findings into the runs.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "results/file_system.h"
#include "results/nightly/finding.h"
#include "results/run_summary.h"

namespace bench {

struct Taken {
  RunSummary report;    // also where the database could not take the run
  bool indexed = true;  // else it was said why not
};

/// `hurry`: after ^C there is no time to wait for other writers.
Taken take_run(const std::filesystem::path& run, const std::filesystem::path& database, bool hurry);

/// The runs of a night's nodes as one: they are parts of one plan.
void add_part(RunSummary part, RunSummary& whole);

/// Held while a night runs: two at once would measure each other. Throws Error(environment) naming
/// who holds it.
std::unique_ptr<FileLock> lock_night(const std::filesystem::path& database);

/// Appends to the run, as events (kFindingEvent), those that it raised: a database made anew finds
/// them there. Whether there were any. Throws Error(environment).
bool write_findings(const std::filesystem::path& run, const std::vector<NightFinding>& findings);

}  // namespace bench
