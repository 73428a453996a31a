// Reads keys and points of histories. Through SQLite's own calls: tens of millions of rows pass
// here, and a wrapper's cost per column would be the larger part.
#pragma once

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results/history/history.h"

namespace bench {

/// A row of the table history. Params stay text: most rows are not selected.
struct HistoryRow {
  std::int64_t id = 0;
  std::string metric, params, device, host, over, unit, better;
  int ranks = 1;
};

/// All series, in the order of histories.
std::vector<HistoryRow> history_rows(SQLite::Database& db);
/// Without its params.
SeriesKey key_of(const HistoryRow& row);

/// All calls throw SQLite::Exception.
class PointQuery {
 public:
  enum Of { of_series, of_run };
  PointQuery(SQLite::Database& db, Of of);

  /// Restarts with the points of this series or run.
  void ask(std::int64_t id);
  /// The next point; false after the last.
  bool step();
  std::int64_t series() const;
  std::int64_t run() const;  // the number, not the place in time
  Point point(std::int64_t place, std::int64_t time_ns) const;

 private:
  double number(int column) const;

  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

}  // namespace bench
