// Adds a finished run to the database.
#pragma once

#include <filesystem>
#include <optional>

#include "core/error.h"
#include "results/run_summary.h"

namespace bench {

/// Adds a run to the database and returns its summary, and its records in `records`. Empty after a
/// warning if that fails; the run itself is kept. `hurry`: after Ctrl-C, do not wait for other writers.
std::optional<RunSummary> index_run(const std::filesystem::path& run,
                                    const std::filesystem::path& database, bool hurry,
                                    RunRecords* records = nullptr);

/// The exit code of a run's report, or environment if only the database failed.
inline ExitCode with_index(ExitCode code, bool indexed) {
  return code == ExitCode::ok && !indexed ? ExitCode::environment : code;
}

}  // namespace bench
