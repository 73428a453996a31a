#include "results/store/run_rows.h"

#include <bit>
#include <set>

#include "results/run/run_summary.h"
#include "results/store/history_rows.h"
#include "results/store/sqlite.h"
#include "results/store/store_schema.h"

namespace bench {
namespace {

/// Little endian whatever the machine, so that a database can be copied between machines.
template <class Integer>
void append_little_endian(Integer value, std::string& bytes) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

std::string values_blob(const std::vector<double>& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(double));
  for (const double value : values)
    append_little_endian(std::bit_cast<std::uint64_t>(value), bytes);
  return bytes;
}

/// Two bytes each: schemas/record.json allows 16 flags.
std::string flags_blob(const std::vector<unsigned>& flags) {
  std::string bytes;
  bytes.reserve(flags.size() * sizeof(std::uint16_t));
  for (const unsigned flag : flags) append_little_endian(static_cast<std::uint16_t>(flag), bytes);
  return bytes;
}

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

void write_samples(SQLite::Database& db, const RunRecords& run, const RunSummary& report) {
  Insert row(db, "INSERT INTO sample_blob VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Result& result : report.results) {
    if (!result.series.record) continue;
    const auto& samples = std::get<Samples>(run.records[*result.series.record].body);
    add_identity(row, report.run, result.series);
    row.blob(values_blob(samples.values)).blob(flags_blob(samples.flags)).write();
  }
}

void write_gates(SQLite::Database& db, const RunSummary& report) {
  Insert row(db, "INSERT INTO gate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < report.gates.size(); ++i) {
    const GateResult& result = report.gates[i];
    row.add(report.run).add(i).add(result.gate.case_name).add(result.gate.metric);
    row.add(result.gate.where)
        .add(result.gate.min)
        .add(result.gate.max)
        .add(result.gate.min_of_limit);
    if (result.series)
      row.add(report.results[*result.series].series.job)
          .add(report.results[*result.series].series.params);
    else
      row.null().null();
    row.add(to_string(result.verdict)).add(result.reason).write();
  }
}

/// Records other than samples and outcomes, in tables by kind.
class Others {
 public:
  Others(SQLite::Database& db, const std::string& run)
      : run_(run),
        event_(db, "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
        chunk_(db, "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
        facts_(db, "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
        phase_(db, "INSERT INTO phase VALUES (?, ?, ?, ?, ?, ?, ?, ?)") {}

  void write(const Record& record, std::size_t position) {
    if (const auto* event = std::get_if<Event>(&record.body))
      begin(event_, record, position).add(event->key).add(event->value).write();
    else if (const auto* chunk = std::get_if<Chunk>(&record.body))
      begin(chunk_, record, position).add(chunk->name).add(chunk->columns).write();
    else if (const auto* facts = std::get_if<Facts>(&record.body))
      begin(facts_, record, position).add(facts->topic).add(facts->facts).write();
    else if (const auto* phase = std::get_if<Phase>(&record.body))
      begin(phase_, record, position).add(phase->name).add(phase->seconds).write();
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
  Insert event_, chunk_, facts_, phase_;
};

}  // namespace

RunSummary write_run(SQLite::Database& db, const RunRecords& run) {
  RunSummary report = make_run_summary(run);
  delete_run(db, report.run);
  write_head(db, run, report);
  write_jobs(db, report);
  write_series(db, report);
  write_samples(db, run, report);
  write_gates(db, report);
  write_history(db, report);
  Others others(db, report.run);
  for (std::size_t i = 0; i < run.records.size(); ++i) others.write(run.records[i], i);
  return report;
}

}  // namespace bench
