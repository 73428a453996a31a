// Creates a database of many histories, to measure how fast they are read and judged:
// judgement_database FILE [SERIES] [POINTS] [SEED]. It has a thousand hosts and as many metrics as
// needed. One series in a thousand loses five percent of its value before its last twenty points.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "core/text.h"
#include "core/time.h"
#include "core/units.h"
#include "results/store/sqlite.h"
#include "results/store/store.h"

using namespace bench;

namespace {

constexpr std::size_t kHosts = 1000, kChanged = 1000, kSince = 20;
constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000'000;

void write_runs(SQLite::Database& db, std::size_t points) {
  Insert run(db, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Insert number(db, "INSERT INTO run_number VALUES (?, ?)");
  for (std::size_t i = 1; i <= points; ++i) {
    const auto time = parse_time("2026-01-01T02:00:00Z") + static_cast<std::int64_t>(i) * kDay;
    const std::string id = "night-" + std::to_string(1000 + i);
    run.add(id).add("nightly").add("d").add(time).add(60.0).add("ok").add(0).add(true);
    run.add("{}").add("[]").add("[]").add("{}").add("{}").add(0).add("[]").write();
    number.add(i).add(id).write();
  }
  Insert(db, "INSERT INTO configuration VALUES (1, ?)").add("{}").write();
}

void write_series(SQLite::Database& db, std::size_t series, std::size_t points,
                  std::uint64_t seed) {
  Insert key(db, "INSERT INTO history VALUES (?, ?, '{}', 'host', ?, 1, 'rank', ?, 'higher')");
  Insert point(db, "INSERT INTO point VALUES (?, ?, ?, ?, ?, 1, ?, NULL, NULL)");
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  for (std::size_t s = 0; s < series; ++s) {
    char metric[32], host[32];
    std::snprintf(metric, sizeof metric, "probe%04zu.rate", s / kHosts);
    std::snprintf(host, sizeof host, "n%04zu", s % kHosts);
    key.add(s + 1).add(metric).add(host).add(to_string(Unit::op_per_second)).write();
    for (std::size_t i = 0; i < points; ++i) {
      const bool lost = s % kChanged == 7 && i + kSince >= points;
      const double value = 1e9 * std::exp(0.01 * noise(random)) * (lost ? 0.95 : 1.0);
      point.add(s + 1).add(i + 1).add(value).add(0.998 * value).add(1.002 * value);
      point.add(0.8).write();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::size_t series = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 160'000;
  const std::size_t points = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 200;
  Store store = Store::open(argv[1], Access::write);
  SQLite::Database& db = store.database();
  // Faster to fill; reads are not affected.
  db.exec("PRAGMA synchronous = OFF");
  db.exec("DROP INDEX point_by_run");
  db.exec("BEGIN");
  write_runs(db, points);
  write_series(db, series, points, argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
  db.exec("COMMIT");
  db.exec("CREATE INDEX point_by_run ON point (run, series)");
  return 0;
}
