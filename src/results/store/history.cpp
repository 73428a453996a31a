#include "results/store/history.h"

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "results/store/sqlite.h"

namespace bench {
namespace {

// Reads keys and points of histories. Through SQLite's own calls: tens of millions of rows pass
// here, and a wrapper's cost per column would be the larger part.

/// A row of the table history. Params stay text: most rows are not selected.
struct HistoryRow {
  std::int64_t id = 0;
  std::string metric, params, device, host, over, unit, better;
  int ranks = 1;
};

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

constexpr const char* kOfSeries =
    "SELECT series, run, value, low, high, configuration, of_limit, clock_hz, power_w FROM point "
    "WHERE series = ? ORDER BY run";
// In series order, which is the table's order, so reads are sequential.
constexpr const char* kOfRun =
    "SELECT series, run, value, low, high, configuration, of_limit, clock_hz, power_w FROM point "
    "INDEXED BY point_by_run WHERE run = ? ORDER BY series";

/// All series, in the order of histories; of a single host if one is asked for: a page for each of
/// a thousand hosts must not sort the series of all.
std::vector<HistoryRow> history_rows(SQLite::Database& db, const std::vector<std::string>& hosts) {
  const std::string host = hosts.size() == 1 ? hosts.front() : "";
  SQLite::Statement query(db,
                          "SELECT id, metric, params, device, host, ranks, over, unit, better FROM "
                          "history WHERE ?1 = '' OR host = ?1 ORDER BY metric, params, device, "
                          "host, ranks, over, unit, better");
  query.bind(1, host);
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

/// Without its params.
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

/// Up to this many runs are read run by run, at a cost proportional to those runs rather than to
/// all.
constexpr std::size_t kFewRuns = 8;

template <class List, class Match>
bool empty_or_any(const List& list, const Match& match) {
  return list.empty() || std::ranges::any_of(list, match);
}

bool fits(const Selection& selection, const HistoryRow& row) {
  const auto is = [](const std::string& text) {
    return [&text](const std::string& wanted) { return text == wanted; };
  };
  return is_selected(row.metric, selection.metrics) &&
         empty_or_any(selection.hosts, is(row.host)) &&
         empty_or_any(selection.devices, is(row.device));
}

/// An object; empty for anything else, as a foreign database may hold.
Json parsed(const std::string& text) {
  Json json = try_parse_json(text).value_or(Json::object());
  return json.is_object() ? json : Json::object();
}

/// Numbers count imports: far fewer than this. They index a table in memory.
constexpr std::int64_t kMostRunNumber = 10'000'000;

std::int64_t checked_number(std::int64_t number, const std::string& run, const Store& store) {
  if (number >= 1 && number <= kMostRunNumber) return number;
  throw Error(ErrorKind::environment,
              "the database " + store.path().string() + " is corrupt: run '" + printable(run) +
                  "' has the number " + std::to_string(number),
              "run `benchctl rebuild` to rebuild it from stored runs");
}

void keep_newest(std::vector<Point>& points, std::size_t most) {
  if (most > 0 && points.size() > most)
    points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(most));
}

}  // namespace

bool is_selected(const std::string& metric, const std::vector<std::string>& names) {
  return empty_or_any(names, [&](const std::string& name) { return metric.starts_with(name); });
}

std::string kind_of_device(const std::string& device) { return device.substr(0, device.find(':')); }

/// By time. `place` turns the numbers that rows carry, which are in the order of import, into
/// places in time; 0 for a number that came later than this object.
struct Histories::Runs {
  struct Run {
    std::int64_t number;
    std::string id;
    std::int64_t time_ns;
    Json labels;
    bool discarded;
  };
  std::vector<Run> all;
  std::vector<std::size_t> place;
  std::once_flag loaded;
  std::map<std::string, RunRow> rows;  // by ID; read on first use

  std::size_t place_of(std::int64_t number) const {
    return number > 0 && static_cast<std::size_t>(number) < place.size()
               ? place[static_cast<std::size_t>(number)]
               : 0;
  }
};

Histories::Histories(const Store& store) try : store_(store), runs_(std::make_unique<Runs>()) {
  SQLite::Statement query(
      store.database(),
      "SELECT number, id, run.time_ns, labels, (SELECT kind FROM journal WHERE journal.run = "
      "run.id AND kind IN ('discard', 'restore') ORDER BY line DESC LIMIT 1) FROM run JOIN "
      "run_number ON run_number.run = run.id ORDER BY run.time_ns, run.id");
  std::int64_t greatest = 0;
  while (query.executeStep()) {
    const std::string id = query.getColumn(1).getString();
    runs_->all.push_back({checked_number(query.getColumn(0).getInt64(), id, store), id,
                          query.getColumn(2).getInt64(), parsed(query.getColumn(3).getString()),
                          query.getColumn(4).getString() == "discard"});
    greatest = std::max(greatest, runs_->all.back().number);
  }
  runs_->place.resize(static_cast<std::size_t>(greatest) + 1);
  for (std::size_t i = 0; i < runs_->all.size(); ++i)
    runs_->place[static_cast<std::size_t>(runs_->all[i].number)] = i + 1;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.path());
}

Histories::~Histories() = default;

std::vector<char> Histories::chosen(const Selection& selection) const {
  std::vector<char> chosen(runs_->all.size() + 1, 0);
  for (std::size_t i = 0; i < runs_->all.size(); ++i) {
    const Runs::Run& run = runs_->all[i];
    const bool labelled = std::ranges::all_of(selection.labels, [&](const auto& label) {
      const auto found = run.labels.find(label.first);
      return found != run.labels.end() && text_of(*found) == label.second;
    });
    const bool in_time = (!selection.from_ns || run.time_ns >= *selection.from_ns) &&
                         (!selection.to_ns || run.time_ns < *selection.to_ns);
    const bool named =
        empty_or_any(selection.runs, [&](const std::string& id) { return run.id.starts_with(id); });
    chosen[i + 1] = !run.discarded && labelled && in_time && named;
  }
  return chosen;
}

std::vector<std::int64_t> Histories::runs(const Selection& selection) const {
  std::vector<std::int64_t> numbers;
  const auto taken = chosen(selection);
  for (std::size_t i = 1; i < taken.size(); ++i)
    if (taken[i] != 0) numbers.push_back(static_cast<std::int64_t>(i));
  return numbers;
}

void Histories::each(const Selection& selection,
                     const std::function<void(const SeriesHistory&)>& take) const try {
  const auto taken = chosen(selection);
  const auto count = static_cast<std::size_t>(std::ranges::count(taken, 1));
  if (count == 0) return;
  if (count <= kFewRuns && count < runs_->all.size())
    each_of_few_runs(selection, taken, take);
  else
    each_series(selection, taken, take);
} catch (const SQLite::Exception& error) {
  rethrow(error, store_.path());
}

namespace {

/// The points of one series as they are read, put into the order of time.
class Gathered {
 public:
  void clear() { history_.points.clear(); }
  void add(const Point& point) { history_.points.push_back(point); }

  void emit(const HistoryRow& row, std::size_t most,
            const std::function<void(const SeriesHistory&)>& take) {
    if (history_.points.empty()) return;
    if (!std::ranges::is_sorted(history_.points, {}, &Point::run))
      std::ranges::sort(history_.points, {}, &Point::run);
    keep_newest(history_.points, most);
    set_key(row);
    take(history_);
  }

 private:
  /// Series of one metric follow each other: their params are parsed once.
  void set_key(const HistoryRow& row) {
    Json params = row.params == params_ ? std::move(history_.key.params) : parsed(row.params);
    params_ = row.params;
    history_.key = key_of(row);
    history_.key.params = std::move(params);
  }

  std::string params_;
  SeriesHistory history_;
};

}  // namespace

void Histories::each_series(const Selection& selection, const std::vector<char>& taken,
                            const std::function<void(const SeriesHistory&)>& take) const {
  PointQuery points(store_.database(), PointQuery::of_series);
  Gathered gathered;
  for (const HistoryRow& row : history_rows(store_.database(), selection.hosts)) {
    if (!fits(selection, row)) continue;
    gathered.clear();
    for (points.ask(row.id); points.step();) {
      const std::size_t place = runs_->place_of(points.run());
      if (taken[place] != 0)
        gathered.add(points.point(static_cast<std::int64_t>(place), runs_->all[place - 1].time_ns));
    }
    gathered.emit(row, selection.most_points, take);
  }
}

void Histories::each_of_few_runs(const Selection& selection, const std::vector<char>& taken,
                                 const std::function<void(const SeriesHistory&)>& take) const {
  std::vector<std::pair<std::int64_t, Point>> found;  // by the series' id
  PointQuery points(store_.database(), PointQuery::of_run);
  for (std::size_t place = 1; place < taken.size(); ++place) {
    if (taken[place] == 0) continue;
    const Runs::Run& run = runs_->all[place - 1];
    for (points.ask(run.number); points.step();)
      found.emplace_back(points.series(),
                         points.point(static_cast<std::int64_t>(place), run.time_ns));
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  Gathered gathered;
  for (const HistoryRow& row : history_rows(store_.database(), selection.hosts)) {
    if (!fits(selection, row)) continue;
    gathered.clear();
    for (const auto& [id, point] :
         std::ranges::equal_range(found, row.id, {}, [](const auto& one) { return one.first; }))
      gathered.add(point);
    gathered.emit(row, selection.most_points, take);
  }
}

RunRow Histories::run(std::int64_t number) const {
  std::call_once(runs_->loaded, [this] {
    for (RunRow& row : store_.runs()) runs_->rows.emplace(row.id, std::move(row));
  });
  const std::size_t count = runs_->all.size();
  const auto row = number >= 1 && static_cast<std::size_t>(number) <= count
                       ? runs_->rows.find(runs_->all[static_cast<std::size_t>(number) - 1].id)
                       : runs_->rows.end();
  if (row == runs_->rows.end())
    throw Error(ErrorKind::input, "no run number " + std::to_string(number),
                "there are " + std::to_string(count) + " runs: list them with `benchctl runs`");
  return row->second;
}

Json Histories::configuration(std::int64_t id) const try {
  SQLite::Statement query(store_.database(), "SELECT facts FROM configuration WHERE id = ?");
  query.bind(1, id);
  return query.executeStep() ? parsed(query.getColumn(0).getString()) : Json::object();
} catch (const SQLite::Exception& error) {
  rethrow(error, store_.path());
}

}  // namespace bench
