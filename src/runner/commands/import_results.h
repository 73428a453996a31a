// The part of `benchctl import` that takes results; import.cpp has the part that takes hosts.
#pragma once

#include "results/importers/imported_runs.h"
#include "runner/commands/command.h"

namespace bench {

void add_import_results(CLI::App& import, CommandResult& result);

/// Moves what was imported into place, takes it into the database, and says so on stdout.
ExitCode keep_imported(ImportedRuns& runs, const ReadingOptions& options);

}  // namespace bench
