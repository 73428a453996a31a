// Finds a stored run by ID, ID prefix, folder, "latest", or "latest~N", the N-th before it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/run/run_summary.h"

namespace bench {

// Adds a finished run to the database.

/// Adds a run to the database and returns its summary, and its records in `records`. Empty after a
/// warning if that fails; the run itself is kept. `hurry`: after Ctrl-C, do not wait for other
/// writers.
std::optional<RunSummary> index_run(const std::filesystem::path& run,
                                    const std::filesystem::path& database, bool hurry,
                                    RunRecords* records = nullptr);

/// The exit code of a run's report, or environment if only the database failed.
inline ExitCode with_index(ExitCode code, bool indexed) {
  return code == ExitCode::ok && !indexed ? ExitCode::environment : code;
}

/// The IDs of all runs, oldest first: IDs begin with the planning time.
std::vector<std::string> all_runs(const std::filesystem::path& runs);

/// The run's folder. Throws Error(input) for no or several matches, with a suggestion.
std::filesystem::path find_run(const std::filesystem::path& runs, const std::string& name);

/// The folders of several runs, each once, in the order given: names as for find_run(), or
/// label:NAME=VALUE for all finished runs with that label that nobody discarded, oldest first.
/// Throws Error(input) if one names nothing.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& database,
                                             const std::vector<std::string>& names);

}  // namespace bench
