// Writes the run values of a run into the tables that histories are read from: history (the keys),
// point, configuration, run_number. Inside a transaction of the caller.
#pragma once

#include <string>
#include <vector>

#include "results/run/run_summary.h"
#include "results/store/history.h"

namespace bench {

// Values of one run per series, in the form kept by histories.

struct KeyedValue {
  SeriesKey key;
  Point point;  // configuration is an index in RunValues::configurations; run is 0
};

struct RunValues {
  std::vector<KeyedValue> values;
  std::vector<Json> configurations;
};

/// Excludes series that are not ok, have no clean sample or belong to a search for a bad host.
/// Repeated jobs give one value; its interval is that of a single series, for six or more values
/// that of their median, else their range.
RunValues run_values(const RunSummary& report);

}  // namespace bench

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
