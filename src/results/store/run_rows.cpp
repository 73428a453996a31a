#include "results/store/run_rows.h"

#include <set>

#include "results/run/run_summary.h"
#include "results/store/history_rows.h"
#include "results/store/sqlite.h"
#include "results/store/store_schema.h"

namespace bench {
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
    if (const auto* event = std::get_if<Event>(&record.body))
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
