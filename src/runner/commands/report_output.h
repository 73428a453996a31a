// Puts the report of a run on stdout, as text that fits the terminal or as JSON.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "results/reports/run_report.h"
#include "results/reports/text_style.h"
#include "runner/index_run.h"

namespace bench {

void print_report(const RunReport& report, bool json);

/// Colours and width of stdout, where it is a terminal.
TextStyle style_of_stdout();

/// After a run: takes it into the database and prints its report. The exit code is the run's, or
/// environment for a run that is fine but is not in the database.
ExitCode report_and_index(const std::filesystem::path& run, const std::filesystem::path& database,
                          bool hurry, bool json);

}  // namespace bench
