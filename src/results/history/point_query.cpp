#include "results/history/point_query.h"

#include <sqlite3.h>

#include "results/sqlite.h"

namespace bench {
namespace {

constexpr const char* kOfSeries =
    "SELECT series, run, value, low, high, configuration, of_limit, clock_hz, power_w FROM point "
    "WHERE series = ? ORDER BY run";
// In series order, which is the table's order, so reads are sequential.
constexpr const char* kOfRun =
    "SELECT series, run, value, low, high, configuration, of_limit, clock_hz, power_w FROM point "
    "INDEXED BY point_by_run WHERE run = ? ORDER BY series";

}  // namespace

std::vector<HistoryRow> history_rows(SQLite::Database& db) {
  SQLite::Statement query(db,
                          "SELECT id, metric, params, device, host, ranks, over, unit, better FROM "
                          "history ORDER BY metric, params, device, host, ranks, over, unit, "
                          "better");
  std::vector<HistoryRow> rows;
  while (query.executeStep())
    rows.push_back({.id = query.getColumn(0).getInt64(),
                    .metric = query.getColumn(1).getString(),
                    .params = query.getColumn(2).getString(),
                    .device = query.getColumn(3).getString(),
                    .host = query.getColumn(4).getString(),
                    .over = query.getColumn(6).getString(),
                    .unit = query.getColumn(7).getString(),
                    .better = query.getColumn(8).getString(),
                    .ranks = query.getColumn(5).getInt()});
  return rows;
}

SeriesKey key_of(const HistoryRow& row) {
  return {.id = row.id,
          .metric = row.metric,
          .params = Json::object(),
          .host = row.host,
          .device = row.device,
          .ranks = row.ranks,
          .unit = unit_from(row.unit),
          .better = better_from(row.better),
          .over = row.over};
}

PointQuery::PointQuery(SQLite::Database& db, Of of)
    : db_(db.getHandle()), statement_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* made = nullptr;
  const int code =
      sqlite3_prepare_v2(db_, of == of_series ? kOfSeries : kOfRun, -1, &made, nullptr);
  if (code != SQLITE_OK) throw SQLite::Exception(db_, code);
  statement_.reset(made);
}

void PointQuery::ask(std::int64_t id) {
  sqlite3_reset(statement_.get());
  const int code = sqlite3_bind_int64(statement_.get(), 1, id);
  if (code != SQLITE_OK) throw SQLite::Exception(db_, code);
}

bool PointQuery::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) throw SQLite::Exception(db_, code);
  sqlite3_reset(statement_.get());
  return false;
}

std::int64_t PointQuery::series() const { return sqlite3_column_int64(statement_.get(), 0); }
std::int64_t PointQuery::run() const { return sqlite3_column_int64(statement_.get(), 1); }

/// NULL reads as 0.0: check the type only then.
double PointQuery::number(int column) const {
  const double value = sqlite3_column_double(statement_.get(), column);
  if (value != 0.0 || sqlite3_column_type(statement_.get(), column) != SQLITE_NULL) return value;
  return kNoValue;
}

Point PointQuery::point(std::int64_t place, std::int64_t time_ns) const {
  return {.run = place,
          .time_ns = time_ns,
          .value = number(2),
          .low = number(3),
          .high = number(4),
          .configuration = sqlite3_column_int64(statement_.get(), 5),
          .of_limit = number(6),
          .clock_hz = number(7),
          .power_w = number(8)};
}

}  // namespace bench
