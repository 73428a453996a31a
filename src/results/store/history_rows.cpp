#include "results/store/history_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/order_statistics.h"
#include "results/run/run_summary.h"
#include "results/store/sqlite.h"

namespace bench {
namespace {

/// A library's own choice: a different one must not move a slower result into another series.
constexpr const char* kChosen = "implementation";

bool counts(const Series& series, const PlannedJob& job) {
  return !series.metric.empty() && series.outcome == Status::ok && series.clean > 0 &&
         std::isfinite(series.median) && job.search_of.empty();
}

SeriesKey history_key(const Series& series, const PlannedJob& job) {
  const std::string part = text_field(job.part, "device");
  SeriesKey key{.metric = series.metric,
                .params = series.params,
                .host = job.hosts.size() > 1 ? "" : series.host,
                .device = part.empty() ? series.device : part,
                .ranks = std::max(series.ranks, 1),
                .unit = series.unit,
                .better = series.better,
                .over = series.over};
  if (!part.empty() && text_field(key.params, "device") == part) key.params.erase("device");
  key.params.erase(kChosen);
  if (series.over == "rank" && key.ranks > 1) key.params["rank"] = series.rank;
  if (job.hosts.size() > 1 && !key.params.contains("hosts")) key.params["hosts"] = job.hosts.size();
  return key;
}

std::string identity_text(const SeriesKey& key) {
  return key.metric + "\n" + dump(key.params) + "\n" + key.device + "\n" + key.host + "\n" +
         std::to_string(key.ranks) + "\n" + key.over + "\n" + std::string(to_string(key.unit)) +
         "\n" + std::string(to_string(key.better));
}

double power_of(const Result& result) {
  if (!result.telemetry) return kNoValue;
  const SeriesTelemetry& telemetry = *result.telemetry;
  if (telemetry.gpus.empty()) return telemetry.cpu_power_w;
  double watts = 0.0;
  for (const GpuTelemetry& gpu : telemetry.gpus) watts += gpu.power_w.mean;
  return watts;
}

double clock_of(const Result& result) {
  if (result.series.quality.clock_hz) return *result.series.quality.clock_hz;
  if (!result.telemetry || result.telemetry->gpus.empty()) return kNoValue;
  std::vector<double> clocks;
  for (const GpuTelemetry& gpu : result.telemetry->gpus) clocks.push_back(gpu.sm_clock_hz.mean);
  return finite_median(clocks);
}

/// A usable series with its job.
struct Member {
  const Result* result;
  const PlannedJob* job;
};

std::string library_choice(const Member& member) {
  return text_field(member.result->series.params, kChosen);
}

/// One job with several implementations was configured to separate them.
bool job_has_several(const std::vector<Member>& members) {
  std::map<const PlannedJob*, std::string> first;
  for (const Member& member : members)
    if (first.try_emplace(member.job, library_choice(member)).first->second !=
        library_choice(member))
      return true;
  return false;
}

/// Scalar settings that differ between these jobs, so that their results are not comparable.
std::set<std::string> differing_settings(const std::vector<Member>& members) {
  std::set<std::string> differing;
  const Json& first = members.front().job->params;
  for (const Member& member : members) {
    const Json& params = member.job->params;
    for (const auto& [name, value] : params.items())
      if (value.is_primitive() && (!first.contains(name) || first[name] != value))
        differing.insert(name);
    for (const auto& [name, value] : first.items())
      if (value.is_primitive() && !params.contains(name)) differing.insert(name);
  }
  return differing;
}

void set_interval(Point& point, const std::vector<Member>& members,
                  const std::vector<double>& values) {
  if (members.size() == 1) {
    point.low = members.front().result->series.low;
    point.high = members.front().result->series.high;
  } else if (const auto interval = median_interval(values)) {
    point.low = interval->low;
    point.high = interval->high;
  } else {
    point.low = quantile(values, 0.0);
    point.high = quantile(values, 1.0);
  }
}

Point point_of(const std::vector<Member>& members, const std::string& metric) {
  std::vector<double> values, limits, clocks, powers;
  Point point;
  for (const Member& member : members) {
    const Series& series = member.result->series;
    values.push_back(series.median);
    limits.push_back(series.of_limit);
    clocks.push_back(clock_of(*member.result));
    powers.push_back(power_of(*member.result));
  }
  point.value = combined(values, declaration(metric).repeats);
  set_interval(point, members, values);
  point.of_limit = finite_median(limits);
  point.clock_hz = finite_median(clocks);
  point.power_w = finite_median(powers);
  return point;
}

struct Group {
  SeriesKey key;
  std::vector<Member> members;
};

/// Groups in the order of appearance.
class Groups {
 public:
  void add(SeriesKey key, const Member& member) {
    const auto [slot, is_new] = at_.try_emplace(identity_text(key), all_.size());
    if (is_new) all_.push_back({std::move(key), {}});
    all_[slot->second].members.push_back(member);
  }
  const std::vector<Group>& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> at_;
  std::vector<Group> all_;
};

/// Separates series with equal keys by the settings in which their jobs differ.
Groups split_by_settings(const Groups& groups) {
  Groups apart;
  for (const Group& group : groups.all()) {
    const auto differing = differing_settings(group.members);
    const bool several = job_has_several(group.members);
    for (const Member& member : group.members) {
      SeriesKey key = group.key;
      if (several) key.params[kChosen] = library_choice(member);
      for (const std::string& name : differing)
        if (member.job->params.contains(name) && !key.params.contains(name))
          key.params[name] = member.job->params[name];
      apart.add(std::move(key), member);
    }
  }
  return apart;
}

}  // namespace

RunValues run_values(const RunSummary& report) {
  const PlannedJobs jobs = jobs_by_id(report);
  Groups alike;
  for (const Result& result : report.results) {
    const auto job = jobs.find(result.series.job);
    if (job == jobs.end() || !counts(result.series, *job->second)) continue;
    alike.add(history_key(result.series, *job->second), {&result, job->second});
  }
  Configurations configurations(report);
  RunValues found;
  const Groups apart = split_by_settings(alike);
  for (const Group& group : apart.all()) {
    Point point = point_of(group.members, group.key.metric);
    point.time_ns = report.time_ns;
    const Member& first = group.members.front();
    const std::size_t configuration = configurations.of(*first.job, library_choice(first));
    point.configuration = static_cast<std::int64_t>(configuration);
    found.values.push_back({group.key, point});
  }
  found.configurations = configurations.all();
  return found;
}

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
  SQLite::bind(statement, key.metric, dump(key.params), key.device, key.host, key.ranks, key.over,
               std::string(to_string(key.unit)), std::string(to_string(key.better)));
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
