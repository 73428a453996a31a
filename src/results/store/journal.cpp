#include "results/store/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <new>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/names.h"
#include "core/whole_file.h"
#include "results/store/sqlite.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

/// Whether structure and keys are in order.
constexpr const char* kQuick = "PRAGMA quick_check(1)";
/// Also whether indexes agree with tables: takes three to four times as long.
constexpr const char* kComplete = "PRAGMA integrity_check(1)";

bool passes_check(const fs::path& path, int flags, int busy_timeout_ms, const char* pragma) {
  refuse_special_file(path);
  try {
    SQLite::Database db(path, flags, busy_timeout_ms);
    distrust(db);
    SQLite::Statement check(db, pragma);
    return check.executeStep() && check.getColumn(0).getString() == "ok";
  } catch (const SQLite::Exception& error) {
    if (is_damage(error)) return false;
    throw;
  }
}

/// A writer would clear the log of a corrupt database, which is evidence, so check with a reader
/// first. Use a writer only if reading is refused (the rollback of a crashed writer must be
/// finished).
bool is_sound(const fs::path& path, int busy_timeout_ms, const char* pragma) {
  try {
    return passes_check(path, SQLite::OPEN_READONLY, busy_timeout_ms, pragma);
  } catch (const SQLite::Exception&) {
  }
  try {
    return passes_check(path, SQLite::OPEN_READWRITE, busy_timeout_ms, pragma);
  } catch (const SQLite::Exception& error) {
    rethrow(error, path);
  }
}

fs::path with_suffix(const fs::path& path, const std::string& suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  if (!fs::exists(from, failed)) return;
  fs::rename(from, to, failed);
  if (failed)
    throw Error(ErrorKind::environment,
                "cannot move " + from.string() + " aside: " + failed.message(),
                "move it away manually, then rerun `benchctl rebuild`");
}

/// The log of a damaged database must not be applied to the new one, so it goes with it.
fs::path move_aside(const fs::path& db) {
  int number = 1;
  fs::path aside;
  do {
    aside = with_suffix(db, ".corrupt-" + std::to_string(number++));
  } while (fs::exists(aside));
  for (const char* part : {"-wal", "-shm", "-journal"})
    move(with_suffix(db, part), with_suffix(aside, part));
  move(db, aside);
  return aside;
}

}  // namespace

void check_integrity(const fs::path& db) {
  if (!fs::exists(db) || is_sound(db, StoreOptions().busy_timeout_ms, kComplete)) return;
  throw Error(ErrorKind::environment,
              "the database " + db.string() + " is corrupt: it fails SQLite's integrity check",
              "run `benchctl rebuild` to move it aside and rebuild it from stored runs");
}

Rebuilt rebuild(const fs::path& db, const fs::path& runs_dir, const fs::path& journal,
                const StoreOptions& options) {
  Rebuilt result;
  if (fs::exists(db) && !is_sound(db, options.busy_timeout_ms, kQuick))
    result.moved_aside = move_aside(db);
  Store store = Store::open(db, Access::rebuild, options);
  result.complaints = store.import_all(runs_dir, journal);
  result.runs = store.runs().size();
  return result;
}

namespace {

namespace fs = std::filesystem;

constexpr NameTable<JournalKind, 7> kKinds{{{{JournalKind::note, "note"},
                                             {JournalKind::discard, "discard"},
                                             {JournalKind::restore, "restore"},
                                             {JournalKind::acked, "acked"},
                                             {JournalKind::fixed, "fixed"},
                                             {JournalKind::noise, "noise"},
                                             {JournalKind::reopen, "reopen"}}}};

JournalEntry entry_from(const Json& json, std::size_t line) {
  return {line,
          integer_field(json, "time_ns"),
          text_field(json, "user"),
          kKinds.value(text_field(json, "kind"), "kind of journal entry"),
          text_field(json, "run"),
          text_field(json, "text")};
}

Descriptor open_to_append(const fs::path& path) {
  Descriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file.valid())
    throw_errno("open " + path.string(),
                "make the journal writable: it stores decisions on runs and findings");
  return file;
}

bool lacks_final_newline(int file) {
  struct stat about {};
  char last = '\n';
  if (fstat(file, &about) != 0 || about.st_size == 0) return false;
  return pread(file, &last, 1, about.st_size - 1) == 1 && last != '\n';
}

}  // namespace

std::string_view to_string(JournalKind kind) { return kKinds.name(kind); }

fs::path journal_path(const fs::path& database) { return database.parent_path() / "journal.jsonl"; }

Journal read_journal(const fs::path& path) {
  Journal journal;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return journal;
  const std::string text = read_file(path);
  std::size_t line = 0;
  for (std::size_t start = 0; start < text.size();) {
    ++line;
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) {
      try {
        journal.entries.push_back(
            entry_from(parse_json(text.substr(start, end - start), "line"), line));
      } catch (const std::bad_alloc&) {
        throw;  // not a fault of the line
      } catch (const std::exception& error) {
        journal.warnings.push_back(
            fmt::format("{}: skipped unreadable line {}: {}", path.string(), line, error.what()));
      }
    }
    start = end + 1;
  }
  return journal;
}

void append(const fs::path& path, const JournalEntry& entry) {
  std::error_code none;
  const bool is_new = !fs::exists(path, none);
  const Descriptor file = open_to_append(path);
  const Json json = {{"time_ns", entry.time_ns},
                     {"user", entry.user},
                     {"kind", to_string(entry.kind)},
                     {"run", entry.run},
                     {"text", entry.text}};
  std::string line = lacks_final_newline(file.get()) ? "\n" : "";
  line.append(dump(json)).append("\n");
  if (!write_all(file.get(), line))
    throw_errno("write " + path.string(), "free disk space and repeat the decision");
  if (fsync(file.get()) != 0) throw_errno("write " + path.string() + " to disk");
  if (is_new) sync_folder(path.parent_path());
}

}  // namespace bench
