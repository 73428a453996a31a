// Puts the report of a run on stdout, as text that fits the terminal or as JSON.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "results/reports/run_report.h"

namespace bench {

void print_report(const RunReport& report, bool json);

/// After a run: takes it into the database and prints its report. The exit code is the run's, or
/// environment for a run that is fine but is not in the database.
ExitCode report_and_index(const std::filesystem::path& run, const std::filesystem::path& database,
                          bool json);

}  // namespace bench
