// Prints the report of a run, as text that fits the terminal or as JSON.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "results/reports/run_report.h"
#include "results/reports/text_style.h"
#include "runner/index_run.h"

namespace bench {

void print_report(const RunReport& report, bool json);

/// Colours and width of stdout if it is a terminal.
TextStyle style_of_stdout();

/// Indexes a finished run and prints its report. Returns the run's exit code, or environment if a
/// good run could not be indexed.
ExitCode report_and_index(const std::filesystem::path& run, const std::filesystem::path& database,
                          bool hurry, bool json);

}  // namespace bench
