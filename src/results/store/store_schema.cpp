#include "results/store/store_schema.h"

#include <array>
#include <set>
#include <span>

#include "core/error.h"
#include "core/metric_names.h"
#include "core/text.h"
#include "core/training_progress.h"
#include "core/version.h"
#include "results/store/history_rows.h"
#include "results/store/sqlite.h"

namespace bench {
namespace {

// "bnch": identifies our databases. Pragmas take no parameters, so the text repeats it.
constexpr int kApplicationId = 0x626e6368;
constexpr const char* kSetApplicationId = "PRAGMA application_id = 1651401576";
static_assert(kApplicationId == 1651401576);
constexpr const char* kSetVersion = "PRAGMA user_version = 4";
static_assert(kStoreVersion == 4);
constexpr int kOldMetricNames = 3;  // differs in metric names and unread tables

// The last five are of older versions: nothing read them.
constexpr std::array<const char*, 15> kDrop = {
    "DROP TABLE IF EXISTS run",           "DROP TABLE IF EXISTS job",
    "DROP TABLE IF EXISTS series",        "DROP TABLE IF EXISTS event",
    "DROP TABLE IF EXISTS facts",         "DROP TABLE IF EXISTS journal",
    "DROP TABLE IF EXISTS run_number",    "DROP TABLE IF EXISTS history",
    "DROP TABLE IF EXISTS configuration", "DROP TABLE IF EXISTS point",
    "DROP TABLE IF EXISTS sample_blob",   "DROP TABLE IF EXISTS gate",
    "DROP TABLE IF EXISTS chunk",         "DROP TABLE IF EXISTS phase",
    "DROP TABLE IF EXISTS meta"};
constexpr std::size_t kUnreadTables = 5;

constexpr std::array<const char*, 5> kDeleteRun = {
    "DELETE FROM run WHERE id = ?", "DELETE FROM job WHERE run = ?",
    "DELETE FROM series WHERE run = ?", "DELETE FROM event WHERE run = ?",
    "DELETE FROM facts WHERE run = ?"};

constexpr std::array<const char*, 2> kRenameMetric = {
    "UPDATE series SET metric = ? WHERE metric = ?",
    "UPDATE history SET metric = ? WHERE metric = ?"};

// Values are in base units, NULL if missing. Columns with JSON names hold JSON text. Tables with
// large rows keep their rowid, as long rows slow down a WITHOUT ROWID tree.
constexpr std::array<const char*, 13> kCreate = {
    "CREATE TABLE run (id TEXT PRIMARY KEY NOT NULL, suite TEXT NOT NULL, digest TEXT NOT NULL, "
    "time_ns INTEGER NOT NULL, seconds REAL, outcome TEXT NOT NULL, exit_code INTEGER NOT NULL, "
    "finished INTEGER NOT NULL, labels TEXT NOT NULL, hosts TEXT NOT NULL, command TEXT NOT NULL, "
    "environment TEXT NOT NULL, programs TEXT NOT NULL, results INTEGER NOT NULL, "
    "warnings TEXT NOT NULL)",
    "CREATE TABLE job (run TEXT NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL, "
    "case_name TEXT NOT NULL, probe TEXT NOT NULL, device TEXT NOT NULL, params TEXT NOT NULL, "
    "hosts TEXT NOT NULL, ranks INTEGER NOT NULL, binding TEXT NOT NULL, repeat INTEGER NOT NULL, "
    "outcome TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL, PRIMARY KEY (run, id)) WITHOUT "
    "ROWID",
    "CREATE TABLE series (run TEXT NOT NULL, job TEXT NOT NULL, metric TEXT NOT NULL, "
    "params TEXT NOT NULL, over TEXT NOT NULL, host TEXT NOT NULL, rank INTEGER NOT NULL, "
    "position INTEGER NOT NULL, case_name TEXT NOT NULL, probe TEXT NOT NULL, device TEXT NOT "
    "NULL, "
    "ranks INTEGER NOT NULL, time_ns INTEGER NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL, "
    "n INTEGER NOT NULL, clean INTEGER NOT NULL, median REAL, low REAL, high REAL, min REAL, p5 "
    "REAL, "
    "mean REAL, std REAL, p95 REAL, p99 REAL, max REAL, unfiltered_median REAL, limit_value REAL, "
    "limit_kind TEXT, limit_source TEXT, of_limit REAL, outcome TEXT NOT NULL, reason TEXT NOT "
    "NULL, "
    "verdict TEXT, stop TEXT NOT NULL, repeats INTEGER NOT NULL, cpu_share REAL, steal_share REAL, "
    "throttled_s REAL, clock_hz REAL, others_share REAL, check_method TEXT, check_error REAL, "
    "check_tolerance REAL, "
    "PRIMARY KEY (run, job, metric, params, over, host, rank)) WITHOUT ROWID",
    "CREATE INDEX series_by_metric ON series (metric, host, params, time_ns)",
    "CREATE TABLE event (run TEXT NOT NULL, position INTEGER NOT NULL, job TEXT NOT NULL, "
    "host TEXT NOT NULL, rank INTEGER NOT NULL, time_ns INTEGER NOT NULL, key TEXT NOT NULL, "
    "value TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID",
    "CREATE TABLE facts (run TEXT NOT NULL, position INTEGER NOT NULL, job TEXT NOT NULL, "
    "host TEXT NOT NULL, rank INTEGER NOT NULL, time_ns INTEGER NOT NULL, topic TEXT NOT NULL, "
    "facts TEXT NOT NULL, PRIMARY KEY (run, position))",
    "CREATE TABLE journal (line INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, user TEXT NOT NULL, "
    "kind TEXT NOT NULL, run TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX journal_by_run ON journal (run, line)",
    // What histories are read from (results/store): millions of short rows, so keys are integers.
    "CREATE TABLE run_number (number INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE)",
    "CREATE TABLE history (id INTEGER PRIMARY KEY, metric TEXT NOT NULL, params TEXT NOT NULL, "
    "device TEXT NOT NULL, host TEXT NOT NULL, ranks INTEGER NOT NULL, over TEXT NOT NULL, unit "
    "TEXT NOT NULL, better TEXT NOT NULL, UNIQUE (metric, params, device, host, ranks, over, unit, "
    "better))",
    "CREATE TABLE configuration (id INTEGER PRIMARY KEY, facts TEXT NOT NULL UNIQUE)",
    "CREATE TABLE point (series INTEGER NOT NULL, run INTEGER NOT NULL, value REAL NOT NULL, low "
    "REAL, high REAL, configuration INTEGER NOT NULL, of_limit REAL, clock_hz REAL, power_w REAL, "
    "PRIMARY KEY (series, run)) WITHOUT ROWID",
    "CREATE INDEX point_by_run ON point (run, series)"};

int pragma(SQLite::Database& db, const char* sql) {
  SQLite::Statement query(db, sql);
  return query.executeStep() ? query.getColumn(0).getInt() : 0;
}

/// Views, triggers and virtual tables run code of whoever made the file; ours have none.
void refuse_code(SQLite::Database& db, const std::filesystem::path& path) {
  SQLite::Statement query(db,
                          "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', "
                          "'index') OR (type = 'table' AND rootpage = 0) LIMIT 1");
  if (!query.executeStep()) return;
  throw Error(ErrorKind::input,
              "the database " + path.string() + " has the " + query.getColumn(0).getString() +
                  " '" + printable(query.getColumn(1).getString()) +
                  "', which benchctl never creates",
              "do not use it; benchctl rebuild --db FILE makes a new one from stored runs");
}

}  // namespace

SchemaState schema_state(SQLite::Database& db, const std::filesystem::path& path) {
  const int version = pragma(db, "PRAGMA user_version");
  const int application = pragma(db, "PRAGMA application_id");
  const bool empty = pragma(db, "SELECT COUNT(*) FROM sqlite_master") == 0;
  if (version == 0 && application == 0 && empty) return SchemaState::fresh;
  if (application != kApplicationId)
    throw Error(ErrorKind::input,
                path.string() + " is a SQLite database, but not a benchctl database",
                "choose another one with --db or BENCHCTL_DB");
  if (version > kStoreVersion)
    throw Error(
        ErrorKind::input,
        "the database " + path.string() + " has version " + std::to_string(version) +
            ", but this benchctl (" + std::string(bench::version()) + ") supports versions up to " +
            std::to_string(kStoreVersion),
        "use a newer benchctl, or rebuild into another database with `benchctl rebuild --db FILE`");
  refuse_code(db, path);
  if (version == kOldMetricNames) return SchemaState::renamed;
  return version == kStoreVersion ? SchemaState::current : SchemaState::older;
}

void create_tables(SQLite::Database& db) {
  for (const char* sql : kDrop) db.exec(sql);
  for (const char* sql : kCreate) db.exec(sql);
  db.exec(kSetApplicationId);
  db.exec(kSetVersion);
}

void rename_metrics(SQLite::Database& db) {
  for (const auto& [old_name, name] : metric_renames())
    for (const char* sql : kRenameMetric)
      Insert(db, sql).add(std::string(name)).add(std::string(old_name)).write();
  for (const char* sql : std::span(kDrop).last(kUnreadTables)) db.exec(sql);
  db.exec(kSetVersion);
}

namespace {

/// The hosts that jobs were planned for, in the order of the plan.
Json hosts(const RunSummary& report) {
  Json names = Json::array();
  std::set<std::string> known;
  for (const JobResult& job : report.jobs)
    for (const std::string& host : job.job.hosts)
      if (known.insert(host).second) names.push_back(host);
  return names;
}

void delete_run(SQLite::Database& db, const std::string& run) {
  for (const char* sql : kDeleteRun) Insert(db, sql).add(run).write();
  delete_history(db, run);
}

void write_head(SQLite::Database& db, const RunRecords& run, const RunSummary& report) {
  std::size_t series = 0;
  for (const Result& result : report.results) series += result.series.metric.empty() ? 0 : 1;
  Insert(db, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .add(report.run)
      .add(report.suite)
      .add(report.digest)
      .add(report.time_ns)
      .add(report.seconds)
      .add(to_string(report.outcome))
      .add(static_cast<int>(report.exit_code))
      .add(report.finished)
      .add(report.labels)
      .add(hosts(report))
      .add(array_field(run.plan, "command"))
      .add(object_field(run.plan, "environment"))
      .add(report.programs)
      .add(series)
      .add(Json(report.warnings))
      .write();
}

void write_jobs(SQLite::Database& db, const RunSummary& report) {
  Insert row(db, "INSERT INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < report.jobs.size(); ++i) {
    const JobResult& result = report.jobs[i];
    row.add(report.run).add(result.job.id).add(i).add(result.job.case_name).add(result.job.probe);
    row.add(result.job.device).add(result.job.params).add(Json(result.job.hosts));
    row.add(result.job.ranks).add(result.job.binding).add(result.job.repeat);
    row.add(to_string(result.outcome)).add(result.reason).add(result.seconds).write();
  }
}

Insert& add_identity(Insert& row, const std::string& run, const Series& series) {
  return row.add(run)
      .add(series.job)
      .add(series.metric)
      .add(series.params)
      .add(series.over)
      .add(series.host)
      .add(series.rank);
}

void add_limit(Insert& row, const Series& series) {
  if (!series.limit) {
    row.null().null().null().null();
    return;
  }
  row.add(series.limit->value).add(to_string(series.limit->kind)).add(series.limit->source);
  row.add(series.of_limit);
}

void add_check(Insert& row, const Series& series) {
  if (!series.check) {
    row.null().null().null();
    return;
  }
  row.add(series.check->method).add(series.check->error).add(series.check->tolerance);
}

void write_series(SQLite::Database& db, const RunSummary& report) {
  Insert row(
      db,
      "INSERT INTO series VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const Series& series = report.results[i].series;
    if (series.metric.empty()) continue;
    add_identity(row, report.run, series).add(i).add(series.case_name).add(series.probe);
    row.add(series.device).add(series.ranks).add(series.time_ns);
    row.add(to_string(series.unit)).add(to_string(series.better)).add(series.n).add(series.clean);
    row.add(series.median).add(series.low).add(series.high).add(series.min).add(series.p5);
    row.add(series.mean).add(series.std).add(series.p95).add(series.p99).add(series.max);
    row.add(series.unfiltered_median);
    add_limit(row, series);
    row.add(to_string(series.outcome)).add(series.reason);
    const auto& verdict = report.results[i].verdict;
    verdict ? row.add(to_string(*verdict)) : row.null();
    row.add(series.stop).add(series.repeats);
    row.add(series.quality.cpu_share).add(series.quality.steal_share);
    row.add(series.quality.throttled_s).add(series.quality.clock_hz);
    row.add(series.quality.others_share);
    add_check(row, series);
    row.write();
  }
}

/// Events and facts, the records that later runs are compared with.
class OtherRecords {
 public:
  OtherRecords(SQLite::Database& db, const std::string& run)
      : run_(run),
        event_(db, "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
        facts_(db, "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)") {}

  void write(const Record& record, std::size_t position) {
    const auto* event = std::get_if<Event>(&record.body);
    // Of use only while the training runs, and many.
    if (event != nullptr && event->key == kTrainingProgressEvent) return;
    if (event != nullptr)
      begin(event_, record, position).add(event->key).add(event->value).write();
    else if (const auto* facts = std::get_if<Facts>(&record.body))
      begin(facts_, record, position).add(facts->topic).add(facts->facts).write();
  }

 private:
  Insert& begin(Insert& row, const Record& record, std::size_t position) {
    return row.add(run_)
        .add(position)
        .add(record.job)
        .add(record.host)
        .add(record.rank)
        .add(record.time_ns);
  }

  std::string run_;
  Insert event_, facts_;
};

}  // namespace

RunSummary write_run(SQLite::Database& db, const RunRecords& run) {
  RunSummary report = make_run_summary(run);
  delete_run(db, report.run);
  write_head(db, run, report);
  write_jobs(db, report);
  write_series(db, report);
  write_history(db, report);
  OtherRecords others(db, report.run);
  for (std::size_t i = 0; i < run.records.size(); ++i) others.write(run.records[i], i);
  return report;
}

}  // namespace bench
