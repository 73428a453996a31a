#include "results/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "results/journal.h"
#include "results/run_records.h"
#include "results/run_rows.h"
#include "results/sqlite.h"
#include "results/store_schema.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.parent_path();
  if (folder.empty()) return;
  fs::create_directories(folder, failed);
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
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || c == '/' || c == '.' || c == '-' || c == '_';
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

}  // namespace

Store::Store(fs::path path, bool network, StoreOptions options)
    : path_(std::move(path)), network_(network), options_(std::move(options)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const fs::path& path, Access access, const StoreOptions& options) {
  if (access == Access::read && !fs::exists(path))
    throw Error(ErrorKind::input, "no database at " + path.string(),
                "run a suite first (`benchctl run SUITE`), choose another with --db, or run `benchctl rebuild`");
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
      refuse_empty(schema_state(*db_, path_), path_);
    } catch (const SQLite::Exception& error) {
      if (is_damage(error) || is_busy(error) || !may_read_as_immutable(path_)) throw;
      db_ = std::make_unique<SQLite::Database>(immutable_address(path_),
                                               SQLite::OPEN_READONLY | SQLite::OPEN_URI);
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
