// Prints the report of a run, as text that fits the terminal or as JSON.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "results/output/document/text_style.h"
#include "results/output/run/run_report.h"
#include "runner/commands/command.h"
#include "runner/site/find_run.h"

namespace bench {

/// How much of a report is printed, and as what.
struct PrintedReport {
  bool json = false;
  bool verbose = false;
};
void add_verbose(CLI::App& command, bool& verbose);

void print_report(const RunReport& report, const PrintedReport& how);

/// Colours and width of stdout if it is a terminal.
TextStyle style_of_stdout(bool verbose = false);

/// Indexes a finished run and prints its report. Returns the run's exit code, or environment if a
/// good run could not be indexed.
ExitCode report_and_index(const std::filesystem::path& run, const std::filesystem::path& database,
                          bool hurry, const PrintedReport& how);

}  // namespace bench
