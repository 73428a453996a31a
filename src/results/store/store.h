// The results database: an index over runs/ and the journal for fast queries. It holds no primary
// data: if it fails, runs stay in their spools and `benchctl rebuild` recreates it. Tables and
// fallbacks: docs/results.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/file_system.h"
#include "results/run/run_summary.h"

namespace SQLite {
class Database;
}  // namespace SQLite

namespace bench {

enum class Access {
  read,
  write,   // creates the database where there is none
  rebuild  // as write, and takes an older version too
};

struct StoreOptions {
  int busy_timeout_ms = 10'000;  // of one attempt
  int attempts = 3;
  std::function<bool(const std::filesystem::path&)> is_network = is_network_file_system;
  /// Called on the open connection; lets a test make the disk full.
  std::function<void(SQLite::Database&)> tune = {};
};

/// A run as lists show it.
struct RunRow {
  std::string id;
  std::string suite;
  std::int64_t time_ns = 0;
  double seconds = 0.0;  // NaN if unknown
  std::vector<std::string> hosts;
  std::string outcome;
  int exit_code = 0;
  bool finished = false;
  Json labels = Json::object();
  std::int64_t results = 0;
  /// Text of the journal entry that discarded it; nothing if it counts.
  std::optional<std::string> discarded;
};

/// A metric that was measured at least once.
struct MetricRow {
  std::string metric;
  std::string unit;
  std::string better;
  std::vector<std::string> params;  // names
  std::int64_t runs = 0;
  std::int64_t hosts = 0;
  std::int64_t series = 0;
};

/// An ok series with a value, as the database has it.
struct SeriesRow {
  std::string run;
  std::string device;
  Json params = Json::object();
  double median = 0.0;
};

/// host -> topic -> its latest facts.
using HostFacts = std::map<std::string, std::map<std::string, Json>>;

class Store {
 public:
  /// Throws Error(input) for a newer version, a foreign database or, when reading, a missing one;
  /// Error(environment) for corruption and system errors.
  static Store open(const std::filesystem::path& path, Access access,
                    const StoreOptions& options = {});

  /// Refuses what could not take a run later, to be called before anything is measured: a folder or
  /// device, another program's or a corrupt database, or one that cannot be written. No file is
  /// fine. Throws as open() does.
  static void check(const std::filesystem::path& path, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Reads the run directory and replaces the run's rows in one transaction. Returns the summary
  /// and stores the records in `records`. Throws Error(environment) without changes; the spool is
  /// kept.
  RunSummary import_run(const std::filesystem::path& run_dir, RunRecords* records = nullptr);

  /// Makes the table `journal` equal to the file.
  void import_journal(const std::filesystem::path& journal);

  /// Empties the database and imports everything again, in one transaction. Returns warnings on
  /// folders without a readable run.
  std::vector<std::string> import_all(const std::filesystem::path& runs_dir,
                                      const std::filesystem::path& journal);

  /// Newest first.
  std::vector<RunRow> runs() const;
  std::optional<std::string> latest_run() const;
  /// The run whose ID begins with `prefix`; "latest" is the newest. Throws Error(input) with the
  /// nearest or the ambiguous IDs.
  std::string find_run(const std::string& prefix) const;
  std::vector<MetricRow> metrics() const;
  /// Values of one metric on one host, newest first, without discarded runs.
  std::vector<SeriesRow> series(const std::string& metric, const std::string& host) const;
  /// Of every host with facts in any run.
  HostFacts latest_facts(const std::vector<std::string>& topics) const;

  /// True if the file system is shared between machines: no WAL, one writer at a time.
  bool on_network() const { return network_; }

  /// For the other parts of results/ with queries of their own (history, past checks).
  SQLite::Database& database() const { return *db_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  Store(std::filesystem::path path, bool network, StoreOptions options);
  void connect(Access access);
  void transaction(const std::function<void()>& work);

  std::filesystem::path path_;
  bool network_ = false;
  StoreOptions options_;
  std::unique_ptr<SQLite::Database> db_;
};

}  // namespace bench
