// Writes the run values of a run into the tables that histories are read from: history (the keys),
// point, configuration, run_number. Inside a transaction of the caller.
#pragma once

#include <string>

#include "results/run_summary.h"

namespace SQLite {
class Database;
}  // namespace SQLite

namespace bench {

/// The run's earlier points must be gone (delete_history). It keeps the number it had.
void write_history(SQLite::Database& db, const RunSummary& report);

/// Takes the points of a run out; keys and configurations that nothing uses any more stay until
/// the next rebuild.
void delete_history(SQLite::Database& db, const std::string& run);

}  // namespace bench
