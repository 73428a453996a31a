// A run that has ended, on its way into the database.
#pragma once

#include <filesystem>
#include <optional>

#include "core/error.h"
#include "results/run_summary.h"

namespace bench {

/// Takes a run into the database and returns its summary, and its records in `records`. Nothing,
/// having said why and what to do, when that fails: the run stands. `hurry`: after ^C there is no
/// time to wait for other writers.
std::optional<RunSummary> index_run(const std::filesystem::path& run,
                                    const std::filesystem::path& database, bool hurry,
                                    RunRecords* records = nullptr);

/// The exit code of a run's report; environment where all is well but for the database.
inline ExitCode with_index(ExitCode code, bool indexed) {
  return code == ExitCode::ok && !indexed ? ExitCode::environment : code;
}

}  // namespace bench
