// The values of a run in the form that histories keep them, and the tables that hold them: history
// (the keys), point, configuration, run_number.
#pragma once

#include <string>
#include <vector>

#include "results/run/run_summary.h"
#include "results/store/history.h"

namespace SQLite {
class Database;
}  // namespace SQLite

namespace bench {

struct KeyedValue {
  SeriesKey key;
  Point point;  // configuration is an index in RunValues::configurations; run is 0
};

struct RunValues {
  std::vector<KeyedValue> values;  // one per series
  std::vector<Json> configurations;
};

/// Excludes series that are not ok, have no clean sample or belong to a search for a bad host.
/// Repeated jobs give one value; its interval is that of a single series, for six or more values
/// that of their median, else their range.
RunValues run_values(const RunSummary& report);

/// The run's earlier points must be gone (delete_history). It keeps the number it had. Inside the
/// caller's transaction.
void write_history(SQLite::Database& db, const RunSummary& report);

/// Deletes the points of a run; keys and configurations that nothing uses any more stay until the
/// next rebuild.
void delete_history(SQLite::Database& db, const std::string& run);

}  // namespace bench
