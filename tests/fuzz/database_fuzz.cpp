// Hostile databases of results: as bytes, where the input begins as SQLite's files do; otherwise as
// rows, one JSON object a line, {"table": "run", "id": "x", ...}, put into tables of ours. Every
// query gives values of sense or an Error.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "results/store/history.h"
#include "results/store/sqlite.h"
#include "results/store/store.h"
#include "results/store/store_past.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

namespace {

using namespace bench;
using fuzz::demand;

void read_all(const Store& store) {
  for (const RunRow& run : store.runs()) {
    dump(run.labels);
    store.find_run(run.id);
  }
  store.latest_run();
  for (const MetricRow& metric : store.metrics()) store.series(metric.metric, "node01");
  store.latest_facts({"host", "topology"});
  past_checks(store, 0);
  SeriesIdentity wanted;
  wanted.metric = "gemm.throughput";
  wanted.host = "node01";
  past_values(store, wanted, std::numeric_limits<std::int64_t>::max(), 5);
  for (const PastEvent& event : past_events(store, "suspect", 0))
    demand(event.value.is_object(), "an event without a value");
  const Histories histories(store);
  std::set<std::int64_t> configurations;
  histories.each({}, [&](const SeriesHistory& series) {
    demand(!series.points.empty(), "a history without a point");
    demand(series.key.params.is_object(), "parameters that are none");
    for (const Point& point : series.points) {
      configurations.insert(point.configuration);
      histories.run(point.run);
    }
  });
  for (const std::int64_t one : configurations)
    demand(histories.configuration(one).is_object(), "a configuration that is none");
}

/// Any Error but a bug's.
template <class Read>
void read_or_refuse(Read read) try {
  read();
} catch (const Error& error) {
  demand(error.kind() == ErrorKind::input || error.kind() == ErrorKind::environment, error.what());
}

void try_bytes(const fuzz::InputFolder& folder, std::string_view bytes) {
  const auto path = folder.write("bytes.sqlite", bytes);
  read_or_refuse([&] { read_all(Store::open(path, Access::read)); });
}

void bind_value(SQLite::Statement& statement, int at, const Json& value) {
  if (value.is_number_integer())
    statement.bind(at, value.get<std::int64_t>());
  else if (value.is_number())
    statement.bind(at, value.get<double>());
  else if (value.is_null())
    statement.bind(at);
  else
    statement.bind(at, text_of(value));
}

/// The columns of our tables.
std::vector<std::string> columns_of(const SQLite::Database& db, const std::string& table) {
  SQLite::Statement query(db, "SELECT name FROM pragma_table_info(?)");
  query.bind(1, table);
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

void insert(SQLite::Database& db, const Json& row) try {
  static std::map<std::string, std::vector<std::string>> known;
  if (!row.is_object() || !row.contains("table") || !row["table"].is_string()) return;
  const std::string table = row["table"];
  if (!known.contains(table)) {
    const auto columns = columns_of(db, table);
    if (columns.empty() || table.starts_with("sqlite")) return;
    known[table] = columns;
  }
  std::string names, marks;
  std::vector<Json> values;
  for (const std::string& column : known[table]) {
    if (!row.contains(column)) continue;
    names += (names.empty() ? "" : ", ") + column;
    marks += marks.empty() ? "?" : ", ?";
    values.push_back(row[column]);
  }
  SQLite::Statement statement(
      db, fmt::format("INSERT OR REPLACE INTO {} ({}) VALUES ({})", table, names, marks));
  for (std::size_t i = 0; i < values.size(); ++i)
    bind_value(statement, static_cast<int>(i) + 1, values[i]);
  statement.exec();
} catch (const SQLite::Exception&) {
  // A row that the table refuses.
}

void try_rows(const fuzz::InputFolder& folder, std::string_view lines) {
  static const Store store = Store::open(folder.path() / "rows.sqlite", Access::write);
  SQLite::Database& db = store.database();
  db.exec("BEGIN");
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (const auto row = try_parse_json(line)) insert(db, *row);
  }
  read_or_refuse([&] { read_all(store); });
  db.exec("ROLLBACK");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFolder folder;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with("SQLite format 3"))
    try_bytes(folder, input);
  else
    try_rows(folder, input);
  return 0;
}
