#include "results/store/store_past.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/order_statistics.h"
#include "results/store/sqlite.h"
#include "results/store/store.h"

namespace bench {
namespace {

// Excludes discarded runs.
#define BENCH_COUNTS                                                                     \
  "run.id NOT IN (SELECT run FROM journal AS last WHERE kind = 'discard' AND line = "    \
  "(SELECT MAX(line) FROM journal WHERE journal.run = last.run AND kind IN ('discard', " \
  "'restore')))"

constexpr const char* kChecks =
    "SELECT host.value, case_name, probe, device, MIN(run.time_ns), MAX(run.time_ns), COUNT(*), "
    "AVG(job.seconds) FROM job JOIN run ON run.id = job.run, json_each(job.hosts) AS host "
    "WHERE job.outcome = 'ok' AND run.time_ns >= ? AND (EXISTS (SELECT 1 FROM series WHERE "
    "series.run = job.run AND series.job = job.id AND n > 1 AND clean > 0) OR NOT EXISTS (SELECT 1 "
    "FROM series WHERE series.run = job.run AND series.job = job.id AND n > 1)) AND " BENCH_COUNTS
    " GROUP BY 1, 2, 3, 4";

// The other columns are those of the row with the greatest time (SQLite's bare columns). Skips
// without a time were planned, or for want of time.
constexpr const char* kSkips =
    "SELECT host.value, case_name, job.outcome, job.reason, job.seconds, MAX(run.time_ns) FROM job "
    "JOIN run ON run.id = job.run, json_each(job.hosts) AS host WHERE run.time_ns >= ? "
    "AND " BENCH_COUNTS " GROUP BY 1, 2";

// Reruns are triggered by what a night saw: counting them would overweight its worst nights.
constexpr const char* kValues =
    "SELECT run.id, run.time_ns, median FROM series JOIN run ON run.id = series.run "
    "WHERE metric = ? AND host = ? AND params = ? AND over = ? AND device = ? AND rank = ? AND "
    "ranks = ? AND case_name = ? AND series.outcome = 'ok' AND 2 * clean >= n AND median IS NOT "
    "NULL "
    "AND series.time_ns < ? AND run.time_ns < ? AND json_extract(run.labels, '$.nightly') IS NULL "
    "AND " BENCH_COUNTS " ORDER BY series.time_ns DESC LIMIT ?";

constexpr const char* kEvents =
    "SELECT event.time_ns, value FROM event JOIN run ON run.id = event.run WHERE key = ? AND "
    "run.time_ns >= ? AND " BENCH_COUNTS " ORDER BY event.time_ns, event.position";

constexpr const char* kFacts =
    "SELECT run.id, facts FROM facts JOIN run ON run.id = facts.run WHERE topic = 'host' AND host "
    "= ? AND run.time_ns < ? AND json_extract(run.labels, '$.nightly') IS NULL AND " BENCH_COUNTS
    " ORDER BY run.time_ns DESC";

constexpr std::size_t kMostJobsOfARun = 16;  // repeats of a case inside one run

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

#undef BENCH_COUNTS

}  // namespace

std::vector<CheckPast> past_checks(const Store& store, std::int64_t since_ns) try {
  SQLite::Statement query(store.database(), kChecks);
  query.bind(1, since_ns);
  std::vector<CheckPast> found;
  while (query.executeStep())
    found.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(),
                     query.getColumn(2).getString(), query.getColumn(3).getString(),
                     query.getColumn(4).getInt64(), query.getColumn(5).getInt64(),
                     static_cast<std::size_t>(query.getColumn(6).getInt64()),
                     query.getColumn(7).getDouble()});
  return found;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.path());
}

std::vector<SkipPast> past_skips(const Store& store, std::int64_t since_ns) try {
  SQLite::Statement query(store.database(), kSkips);
  query.bind(1, since_ns);
  std::vector<SkipPast> found;
  while (query.executeStep())
    if (query.getColumn(2).getString() == "skipped" && query.getColumn(4).getDouble() > 0.0)
      found.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(),
                       query.getColumn(3).getString()});
  return found;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.path());
}

std::vector<PastValue> past_values(const Store& store, const SeriesIdentity& series,
                                   std::int64_t before_ns, std::size_t most) try {
  SQLite::Statement query(store.database(), kValues);
  SQLite::bind(query, series.metric, series.host, dump(series.params), series.over, series.device,
               series.rank, series.ranks, series.case_name, before_ns, before_ns,
               static_cast<std::int64_t>(most * kMostJobsOfARun));
  std::vector<PastValue> runs;
  std::map<std::string, std::vector<double>> values;
  while (query.executeStep()) {
    const std::string run = query.getColumn(0).getString();
    auto& of_run = values[run];
    if (of_run.empty()) runs.push_back({run, query.getColumn(1).getInt64(), kNoValue});
    of_run.push_back(query.getColumn(2).getDouble());
  }
  if (runs.size() > most) runs.resize(most);
  for (PastValue& run : runs) run.value = median(values[run.run]);
  std::ranges::reverse(runs);
  return runs;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.path());
}

std::vector<double> past_cpu_quotas(const Store& store, const std::string& host,
                                    std::int64_t before_ns, std::size_t most) try {
  SQLite::Statement query(store.database(), kFacts);
  SQLite::bind(query, host, before_ns);
  std::vector<double> cores;
  for (std::string last; cores.size() < most && query.executeStep();) {
    const std::string run = query.getColumn(0).getString();
    const Json facts = try_parse_json(query.getColumn(1).getString()).value_or(Json());
    const bool none = text_field(facts, "cpu_quota_cores") == "none";
    const double quota = none ? kUnlimited : number_field(facts, "cpu_quota_cores");
    if (run == last || std::isnan(quota)) continue;
    cores.push_back(quota);
    last = run;
  }
  return cores;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.path());
}

std::vector<PastEvent> past_events(const Store& store, const std::string& key,
                                   std::int64_t since_ns) try {
  SQLite::Statement query(store.database(), kEvents);
  SQLite::bind(query, key, since_ns);
  std::vector<PastEvent> found;
  while (query.executeStep()) {
    Json value = try_parse_json(query.getColumn(1).getString()).value_or(Json());
    if (value.is_object()) found.push_back({query.getColumn(0).getInt64(), std::move(value)});
  }
  return found;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.path());
}

}  // namespace bench
