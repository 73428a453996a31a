#include "results/store/sqlite.h"

#include <sqlite3.h>

#include "core/error.h"

namespace bench {
namespace {

constexpr const char* kSpoolsAreSafe =
    "no data is lost: the runs are in their spools; fix this, then run `benchctl rebuild`";

}  // namespace

bool is_damage(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_CORRUPT || error.getErrorCode() == SQLITE_NOTADB;
}

bool is_busy(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_BUSY || error.getErrorCode() == SQLITE_LOCKED;
}

void distrust(SQLite::Database& db) {
  constexpr int kMaxValueBytes = 256 << 20;
  db.exec("PRAGMA trusted_schema = OFF");
  db.exec("PRAGMA cell_size_check = ON");
  sqlite3_limit(db.getHandle(), SQLITE_LIMIT_LENGTH, kMaxValueBytes);
}

void refuse_special_file(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none) || std::filesystem::is_regular_file(path, none)) return;
  throw Error(ErrorKind::input, "the database " + path.string() + " is not a regular file",
              "choose another one with --db or BENCHCTL_DB");
}

void rethrow(const SQLite::Exception& error, const std::filesystem::path& path) {
  const std::string db = "the database " + path.string();
  const std::string reason = std::string(": ") + error.what();
  if (is_damage(error))
    throw Error(ErrorKind::environment, db + " is corrupt" + reason,
                "run `benchctl rebuild` to move it aside and rebuild it from stored runs");
  if (is_busy(error))
    throw Error(ErrorKind::environment, db + " is in use by another process" + reason,
                kSpoolsAreSafe);
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      throw Error(ErrorKind::environment, db + " cannot grow: disk or quota full" + reason,
                  kSpoolsAreSafe);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      throw Error(ErrorKind::environment, db + " cannot be opened or written" + reason,
                  kSpoolsAreSafe);
    case SQLITE_IOERR:
      throw Error(ErrorKind::environment, db + " had an I/O error" + reason, kSpoolsAreSafe);
    case SQLITE_ERROR:  // no such table: somebody changed it by hand
      throw Error(ErrorKind::environment, db + " does not match the schema of its version" + reason,
                  "run `benchctl rebuild` to rebuild it from stored runs");
    default:
      throw Error(ErrorKind::environment, db + " failed" + reason, kSpoolsAreSafe);
  }
}

}  // namespace bench
