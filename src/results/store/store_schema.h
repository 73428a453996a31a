// The tables of the results database (docs/results.md), and the rows of one run. Everything in them
// is derived from runs/ and the journal, so a new version needs no migration: it is rebuilt.
#pragma once

#include <filesystem>

#include "results/run/run_records.h"
#include "results/run/run_summary.h"

namespace SQLite {
class Database;
}  // namespace SQLite

namespace bench {

/// In PRAGMA user_version. Goes up when a table changes its shape or its meaning.
inline constexpr int kStoreVersion = 4;

enum class SchemaState {
  fresh,  // an empty file
  current,
  renamed,  // the tables of this version, with metrics' old names: rename_metrics() updates it
  older     // only a rebuild may touch it
};

/// Throws Error(input) for a newer version, naming both, and for a database that is not ours.
SchemaState schema_state(SQLite::Database& db, const std::filesystem::path& path);

/// Drops existing tables and creates them. Runs inside the caller's transaction.
void create_tables(SQLite::Database& db);

/// Replaces metrics' old names in a database of the state `renamed`, and drops tables that nothing
/// reads. Inside the caller's transaction.
void rename_metrics(SQLite::Database& db);

/// Writes a run's records and results, in place of earlier ones, and returns its summary. Inside
/// the caller's transaction; throws SQLite::Exception.
RunSummary write_run(SQLite::Database& db, const RunRecords& run);

}  // namespace bench
