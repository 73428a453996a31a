// The tables of the results database (docs/results.md). Everything in them is derived from runs/
// and the journal, so a new version needs no migration: it is rebuilt.
#pragma once

#include <filesystem>

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
/// reads. Inside a transaction of the caller.
void rename_metrics(SQLite::Database& db);

/// Takes one run out of all tables.
void delete_run(SQLite::Database& db, const std::string& run);

}  // namespace bench
