#include "results/history/history_rows.h"

#include "results/history/run_values.h"
#include "results/sqlite.h"

namespace bench {
namespace {

/// Finds or inserts the row of a table whose other columns are unique together.
class Interned {
 public:
  Interned(SQLite::Database& db, const char* insert, const char* select)
      : insert_(db, insert), select_(db, select) {}

  template <class Bind>
  std::int64_t id(const Bind& bind) {
    bind(select_);
    if (!select_.executeStep()) {
      bind(insert_);
      insert_.exec();
      insert_.reset();
      select_.reset();
      if (!select_.executeStep()) throw SQLite::Exception("a row that was written is not there");
    }
    const std::int64_t id = select_.getColumn(0).getInt64();
    select_.reset();
    return id;
  }

 private:
  SQLite::Statement insert_, select_;
};

std::int64_t number_of_run(SQLite::Database& db, const std::string& run) {
  Interned numbers(db, "INSERT INTO run_number (run) VALUES (?)",
                   "SELECT number FROM run_number WHERE run = ?");
  return numbers.id([&](SQLite::Statement& statement) { statement.bind(1, run); });
}

std::vector<std::int64_t> write_configurations(SQLite::Database& db,
                                               const std::vector<Json>& configurations) {
  Interned rows(db, "INSERT INTO configuration (facts) VALUES (?)",
                "SELECT id FROM configuration WHERE facts = ?");
  std::vector<std::int64_t> ids;
  for (const Json& facts : configurations) {
    const std::string text = dump(facts);
    ids.push_back(rows.id([&](SQLite::Statement& statement) { statement.bind(1, text); }));
  }
  return ids;
}

void bind_key(SQLite::Statement& statement, const SeriesKey& key) {
  statement.bind(1, key.metric);
  statement.bind(2, dump(key.params));
  statement.bind(3, key.device);
  statement.bind(4, key.host);
  statement.bind(5, key.ranks);
  statement.bind(6, key.over);
  statement.bind(7, std::string(to_string(key.unit)));
  statement.bind(8, std::string(to_string(key.better)));
}

}  // namespace

void write_history(SQLite::Database& db, const RunSummary& report) {
  const RunValues found = run_values(report);
  const std::int64_t number = number_of_run(db, report.run);
  const auto configurations = write_configurations(db, found.configurations);
  Interned keys(
      db,
      "INSERT INTO history (metric, params, device, host, ranks, over, unit, better) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      "SELECT id FROM history WHERE metric = ? AND params = ? AND device = ? AND host = ? "
      "AND ranks = ? AND over = ? AND unit = ? AND better = ?");
  Insert row(db, "INSERT INTO point VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const auto& [key, point] : found.values) {
    const auto id = keys.id([&](SQLite::Statement& statement) { bind_key(statement, key); });
    row.add(id).add(number).add(point.value).add(point.low).add(point.high);
    row.add(configurations.at(static_cast<std::size_t>(point.configuration)));
    row.add(point.of_limit).add(point.clock_hz).add(point.power_w).write();
  }
}

void delete_history(SQLite::Database& db, const std::string& run) {
  Insert(db, "DELETE FROM point WHERE run = (SELECT number FROM run_number WHERE run = ?)")
      .add(run)
      .write();
}

}  // namespace bench
