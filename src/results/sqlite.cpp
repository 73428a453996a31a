#include "results/sqlite.h"

#include <sqlite3.h>

#include "core/error.h"

namespace bench {
namespace {

constexpr const char* kSpoolStands =
    "the runs stand in their spools beside it, nothing is lost; when this is mended, "
    "`benchctl rebuild` takes them in";

}  // namespace

bool is_damage(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_CORRUPT || error.getErrorCode() == SQLITE_NOTADB;
}

bool is_busy(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_BUSY || error.getErrorCode() == SQLITE_LOCKED;
}

void rethrow(const SQLite::Exception& error, const std::filesystem::path& path) {
  const std::string db = "the database " + path.string();
  const std::string reason = std::string(": ") + error.what();
  if (is_damage(error))
    throw Error(ErrorKind::environment, db + " is damaged" + reason,
                "`benchctl rebuild` moves it aside and makes a new one from the runs");
  if (is_busy(error))
    throw Error(ErrorKind::environment, db + " is in use by another process" + reason,
                kSpoolStands);
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      throw Error(ErrorKind::environment, db + " cannot grow: the disk or quota is full" + reason,
                  kSpoolStands);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      throw Error(ErrorKind::environment, db + " cannot be opened or written here" + reason,
                  kSpoolStands);
    case SQLITE_IOERR:
      throw Error(ErrorKind::environment, db + " met an input or output error" + reason,
                  kSpoolStands);
    case SQLITE_ERROR:  // no such table: somebody changed it by hand
      throw Error(ErrorKind::environment, db + " is not built as its version says" + reason,
                  "`benchctl rebuild` makes it anew from the runs");
    default:
      throw Error(ErrorKind::environment, db + " failed" + reason, kSpoolStands);
  }
}

}  // namespace bench
