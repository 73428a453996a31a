// A run that has ended, on its way into the database.
#pragma once

#include <filesystem>
#include <optional>

#include "results/reports/run_report.h"

namespace bench {

/// Takes a run into the database and returns its report. Nothing, having said why and what to do,
/// when that fails: the run stands. `hurry`: after ^C there is no time to wait for other writers.
std::optional<RunReport> index_run(const std::filesystem::path& run,
                                   const std::filesystem::path& database, bool hurry);

}  // namespace bench
