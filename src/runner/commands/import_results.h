// `benchctl import` of results; import.cpp imports hosts.
#pragma once

#include "results/import/imported_runs.h"
#include "runner/commands/command.h"

namespace bench {

void add_import_results(CLI::App& import, CommandResult& result);

/// Stores the imported runs, indexes them, and reports them on stdout.
ExitCode keep_imported(ImportedRuns& runs, const ReadingOptions& options);

}  // namespace bench
