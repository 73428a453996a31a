#include "results/store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/private_folder.h"
#include "core/text.h"
#include "results/run/run_records.h"
#include "results/store/journal.h"
#include "results/store/sqlite.h"
#include "results/store/store_schema.h"

namespace bench {
namespace {

// Queries of commands.

constexpr std::size_t kListedRuns = 5;

/// JSON written by us; if edited by hand and invalid, it is empty.
Json json_of(const SQLite::Column& column) {
  return try_parse_json(column.getString()).value_or(Json());
}

RunRow run_row(SQLite::Statement& query) {
  RunRow row;
  row.id = query.getColumn(0).getString();
  row.suite = query.getColumn(1).getString();
  row.time_ns = query.getColumn(2).getInt64();
  row.seconds = query.isColumnNull(3) ? kNoValue : query.getColumn(3).getDouble();
  for (const Json& host : json_of(query.getColumn(4)))
    if (host.is_string()) row.hosts.push_back(host);
  row.outcome = query.getColumn(5).getString();
  row.exit_code = query.getColumn(6).getInt();
  row.finished = query.getColumn(7).getInt() != 0;
  row.labels = json_of(query.getColumn(8));
  row.results = query.getColumn(9).getInt64();
  if (query.getColumn(10).getString() == "discard") row.discarded = query.getColumn(11).getString();
  return row;
}

std::string first_few(const std::vector<std::string>& ids) {
  std::vector<std::string> shown(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kListedRuns)));
  if (ids.size() > kListedRuns) shown.push_back("...");
  return join(shown, ", ");
}

[[noreturn]] void refuse_unknown(const std::string& prefix, const std::vector<std::string>& all) {
  const std::string shown = printable(prefix.substr(0, 80));
  if (all.empty())
    throw Error(ErrorKind::input, "no run '" + shown + "': no runs stored yet",
                "run a suite first: `benchctl run SUITE`");
  throw Error(ErrorKind::input, "no run '" + shown + "'." + did_you_mean(prefix, all),
              "latest runs: " + first_few(all));
}

}  // namespace

std::vector<RunRow> Store::runs() const try {
  // The last decision about a run counts.
  SQLite::Statement query(*db_,
                          "SELECT id, suite, run.time_ns, seconds, hosts, outcome, exit_code, "
                          "finished, labels, results, "
                          "last.kind, last.text FROM run LEFT JOIN journal AS last ON last.line = "
                          "(SELECT MAX(line) FROM "
                          "journal WHERE journal.run = run.id AND kind IN ('discard', 'restore')) "
                          "ORDER BY run.time_ns DESC, id DESC");
  std::vector<RunRow> rows;
  while (query.executeStep()) rows.push_back(run_row(query));
  return rows;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::optional<std::string> Store::latest_run() const try {
  SQLite::Statement query(*db_, "SELECT id FROM run ORDER BY time_ns DESC, id DESC LIMIT 1");
  if (!query.executeStep()) return {};
  return query.getColumn(0).getString();
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::string Store::find_run(const std::string& prefix) const try {
  std::vector<std::string> all, matching;
  SQLite::Statement query(*db_, "SELECT id FROM run ORDER BY time_ns DESC, id DESC");
  while (query.executeStep()) {
    all.push_back(query.getColumn(0).getString());
    if (all.back() == prefix) return prefix;
    if (all.back().starts_with(prefix)) matching.push_back(all.back());
  }
  if (prefix == "latest" && !all.empty()) return all.front();
  if (prefix.empty() || matching.empty()) refuse_unknown(prefix, all);
  if (matching.size() > 1)
    throw Error(ErrorKind::input,
                "'" + printable(prefix) + "' is ambiguous: it matches " +
                    std::to_string(matching.size()) + " runs",
                "use a longer prefix of one of: " + first_few(matching));
  return matching.front();
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::vector<SeriesRow> Store::series(const std::string& metric, const std::string& host) const try {
  SQLite::Statement query(
      *db_,
      "SELECT run, device, params, median FROM series WHERE metric = ? AND host = ? AND outcome = "
      "'ok' AND median IS NOT NULL AND COALESCE((SELECT kind FROM journal WHERE journal.run = "
      "series.run AND kind IN ('discard', 'restore') ORDER BY line DESC LIMIT 1), '') <> 'discard' "
      "ORDER BY time_ns DESC");
  SQLite::bind(query, metric, host);
  std::vector<SeriesRow> rows;
  while (query.executeStep())
    rows.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(),
                    json_of(query.getColumn(2)), query.getColumn(3).getDouble()});
  return rows;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

HostFacts Store::latest_facts(const std::vector<std::string>& topics) const try {
  HostFacts found;
  // In a group with one MAX, SQLite takes the other columns from the row of the maximum.
  SQLite::Statement query(
      *db_, "SELECT host, facts, MAX(time_ns) FROM facts WHERE topic = ? GROUP BY host");
  for (const std::string& topic : topics) {
    query.bind(1, topic);
    while (query.executeStep())
      found[query.getColumn(0).getString()][topic] = json_of(query.getColumn(1));
    query.reset();
  }
  return found;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::vector<MetricRow> Store::metrics() const try {
  std::map<std::string, std::vector<std::string>> params;
  SQLite::Statement names(
      *db_,
      "SELECT DISTINCT metric, key FROM series, json_each(series.params) ORDER BY metric, key");
  while (names.executeStep())
    params[names.getColumn(0).getString()].push_back(names.getColumn(1).getString());

  SQLite::Statement query(
      *db_,
      "SELECT metric, unit, better, COUNT(DISTINCT run), COUNT(DISTINCT host), "
      "COUNT(*) FROM series GROUP BY metric, unit, better ORDER BY metric, unit");
  std::vector<MetricRow> rows;
  while (query.executeStep()) {
    const std::string metric = query.getColumn(0).getString();
    rows.push_back({metric, query.getColumn(1).getString(), query.getColumn(2).getString(),
                    params[metric], query.getColumn(3).getInt64(), query.getColumn(4).getInt64(),
                    query.getColumn(5).getInt64()});
  }
  return rows;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.parent_path();
  if (folder.empty()) return;
  make_user_folders(folder, failed);
  if (failed)
    throw Error(ErrorKind::environment,
                "cannot create the folder " + folder.string() + ": " + failed.message(),
                "choose another database with --db or BENCHCTL_DB");
}

std::chrono::milliseconds patience(const StoreOptions& options) {
  return std::chrono::milliseconds(options.busy_timeout_ms) * options.attempts;
}

fs::path sibling(const fs::path& path, const char* suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

/// SQLite "file:" URI for a database without writers.
std::string immutable_address(const fs::path& path) {
  std::string address = "file:";
  constexpr const char* kHex = "0123456789abcdef";
  for (const char c : fs::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = is_letter(c) || is_digit(c) || c == '/' || c == '.' || c == '-' || c == '_';
    if (plain)
      address += c;
    else
      address.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
  return address + "?immutable=1";
}

/// A reader of a WAL database must create its -shm file. In a read-only folder this fails; but
/// without a -wal file there is no writer and the database file is complete.
bool may_read_as_immutable(const fs::path& path) {
  std::error_code missing;
  const auto wal = fs::file_size(sibling(path, "-wal"), missing);
  const bool no_log = missing || wal == 0;
  const fs::path folder = fs::absolute(path).parent_path();
  return no_log && faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0;
}

void refuse_older(SchemaState state, const fs::path& path) {
  if (state == SchemaState::older)
    throw Error(ErrorKind::input, "the database " + path.string() + " has an older version",
                "run `benchctl rebuild` to rebuild it from stored runs");
}

void refuse_empty(SchemaState state, const fs::path& path) {
  if (state == SchemaState::fresh)
    throw Error(ErrorKind::input, "the database " + path.string() + " is empty",
                "run a suite first (`benchctl run SUITE`), or run `benchctl rebuild`");
}

/// A run that was killed before it ended is stored, but not yet in a database.
[[noreturn]] void refuse_missing(const fs::path& path) {
  const fs::path runs = path.parent_path() / "runs";
  std::error_code none;
  if (fs::is_directory(runs, none) && !fs::is_empty(runs, none))
    throw Error(ErrorKind::input,
                "no database at " + path.string() + ", but runs in " + runs.string(),
                "`benchctl resume latest` completes a run that ended early; `benchctl rebuild` "
                "makes the database from stored runs");
  throw Error(ErrorKind::input, "no database at " + path.string(),
              "run a suite first (`benchctl run SUITE`), choose another with --db, or run "
              "`benchctl rebuild`");
}

}  // namespace

Store::Store(fs::path path, bool network, StoreOptions options)
    : path_(std::move(path)), network_(network), options_(std::move(options)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const fs::path& path, Access access, const StoreOptions& options) {
  if (access == Access::read && !fs::exists(path)) refuse_missing(path);
  refuse_special_file(path);
  if (access != Access::read) make_folder(path);
  Store store(path, options.is_network(path), options);
  // Switching to WAL does not wait for others as a query does.
  const auto give_up = std::chrono::steady_clock::now() + patience(options);
  while (true) {
    try {
      store.connect(access);
      return store;
    } catch (const SQLite::Exception& error) {
      if (!is_busy(error) || std::chrono::steady_clock::now() > give_up) rethrow(error, path);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

void Store::connect(Access access) {
  if (access == Access::read) {
    try {
      db_ = std::make_unique<SQLite::Database>(path_, SQLite::OPEN_READONLY,
                                               options_.busy_timeout_ms);
      distrust(*db_);
      refuse_empty(schema_state(*db_, path_), path_);
    } catch (const SQLite::Exception& error) {
      if (is_damage(error) || is_busy(error) || !may_read_as_immutable(path_)) throw;
      db_ = std::make_unique<SQLite::Database>(immutable_address(path_),
                                               SQLite::OPEN_READONLY | SQLite::OPEN_URI);
      distrust(*db_);
    }
    const SchemaState state = schema_state(*db_, path_);
    const bool old_names = state == SchemaState::renamed;
    refuse_older(old_names && may_read_as_immutable(path_) ? SchemaState::older : state, path_);
    if (!old_names) return;
    db_.reset();
    connect(Access::write);
    return connect(Access::read);
  }
  db_ = std::make_unique<SQLite::Database>(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                           options_.busy_timeout_ms);
  distrust(*db_);
  if (options_.tune) options_.tune(*db_);
  const SchemaState state = schema_state(*db_, path_);
  if (access != Access::rebuild) refuse_older(state, path_);
  // The spool is the truth and was synced: the database may lose its last moment with the machine.
  db_->exec(network_ ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
  db_->exec(network_ ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  if (state == SchemaState::current || state == SchemaState::older) return;
  transaction([&] {  // another process may have been faster
    const SchemaState now = schema_state(*db_, path_);
    if (now == SchemaState::fresh) create_tables(*db_);
    if (now == SchemaState::renamed) rename_metrics(*db_);
  });
}

void Store::transaction(const std::function<void()>& work) {
  for (int attempt = 1;; ++attempt) {
    std::optional<FileLock> only_writer;
    if (network_) only_writer.emplace(sibling(path_, ".lock"), patience(options_));
    try {
      SQLite::Transaction begun(*db_, SQLite::TransactionBehavior::IMMEDIATE);
      work();
      begun.commit();
      return;
    } catch (const SQLite::Exception& error) {
      if (!is_busy(error) || attempt >= options_.attempts) rethrow(error, path_);
    }
  }
}

void Store::check(const fs::path& path, const StoreOptions& options) try {
  std::error_code none;
  if (!fs::exists(path, none)) return;
  refuse_special_file(path);
  SQLite::Database db(path, SQLite::OPEN_READWRITE, options.busy_timeout_ms);
  distrust(db);
  schema_state(db, path);
  // SQLite opens a file that it may not write as read-only, and complains at the first change only.
  if (sqlite3_db_readonly(db.getHandle(), "main") != 0)
    throw Error(ErrorKind::environment, "the database " + path.string() + " cannot be written",
                "make it writable, or choose another one with --db or BENCHCTL_DB");
  SQLite::Transaction begun(db, SQLite::TransactionBehavior::IMMEDIATE);
} catch (const SQLite::Exception& error) {
  if (!is_busy(error)) rethrow(error, path);  // another writer will have ended by then
}

RunSummary Store::import_run(const fs::path& run_dir, RunRecords* records) {
  RunSummary report;
  // Read inside the transaction: of two imports of one run the later commit has seen more.
  transaction([&] {
    RunRecords run = read_run(run_dir);
    report = write_run(*db_, run);
    if (records != nullptr) *records = std::move(run);
  });
  return report;
}

namespace {

void write_journal(SQLite::Database& db, const fs::path& path) {
  db.exec("DELETE FROM journal");
  Insert row(db, "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)");
  for (const JournalEntry& entry : read_journal(path).entries)
    row.add(entry.line)
        .add(entry.time_ns)
        .add(entry.user)
        .add(to_string(entry.kind))
        .add(entry.run)
        .add(entry.text)
        .write();
}

std::vector<fs::path> folders(const fs::path& runs_dir) {
  std::vector<fs::path> found;
  std::error_code failed;
  if (!fs::exists(runs_dir, failed)) return found;
  for (const auto& entry : fs::directory_iterator(runs_dir, failed))
    if (entry.is_directory(failed)) found.push_back(entry.path());
  if (failed)
    throw Error(ErrorKind::environment,
                "cannot list " + runs_dir.string() + ": " + failed.message());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void Store::import_journal(const fs::path& journal) {
  transaction([&] { write_journal(*db_, journal); });
}

std::vector<std::string> Store::import_all(const fs::path& runs_dir, const fs::path& journal) {
  std::vector<std::string> complaints;
  transaction([&] {
    complaints.clear();
    create_tables(*db_);
    for (const fs::path& folder : folders(runs_dir)) {
      try {
        write_run(*db_, read_run(folder));
      } catch (const Error& error) {
        complaints.push_back(error.what());
      }
    }
    write_journal(*db_, journal);
  });
  return complaints;
}

}  // namespace bench
