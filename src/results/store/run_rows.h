// Writes one run into the database tables: its records and the conclusions of the report.
#pragma once

#include "results/run/run_records.h"
#include "results/run/run_summary.h"

namespace SQLite {
class Database;
}  // namespace SQLite

namespace bench {

/// Replaces the run if it is there, and returns its report. Inside a transaction of the caller;
/// throws SQLite::Exception.
RunSummary write_run(SQLite::Database& db, const RunRecords& run);

}  // namespace bench
