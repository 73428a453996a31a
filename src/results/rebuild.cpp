#include "results/rebuild.h"

#include "core/error.h"
#include "results/sqlite.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

bool passes_check(const fs::path& path, int flags, int busy_timeout_ms) {
  try {
    SQLite::Database db(path, flags, busy_timeout_ms);
    SQLite::Statement check(db, "PRAGMA quick_check(1)");
    return check.executeStep() && check.getColumn(0).getString() == "ok";
  } catch (const SQLite::Exception& error) {
    if (is_damage(error)) return false;
    throw;
  }
}

/// A writer would clear the log of a corrupt database, which is evidence, so check with a reader
/// first. Use a writer only if reading is refused (the rollback of a crashed writer must be
/// finished).
bool is_sound(const fs::path& path, int busy_timeout_ms) {
  try {
    return passes_check(path, SQLite::OPEN_READONLY, busy_timeout_ms);
  } catch (const SQLite::Exception&) {
  }
  try {
    return passes_check(path, SQLite::OPEN_READWRITE, busy_timeout_ms);
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

Rebuilt rebuild(const fs::path& db, const fs::path& runs_dir, const fs::path& journal,
                const StoreOptions& options) {
  Rebuilt result;
  if (fs::exists(db) && !is_sound(db, options.busy_timeout_ms)) result.moved_aside = move_aside(db);
  Store store = Store::open(db, Access::rebuild, options);
  result.complaints = store.import_all(runs_dir, journal);
  result.runs = store.runs().size();
  return result;
}

}  // namespace bench
