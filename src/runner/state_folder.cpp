#include "runner/state_folder.h"

#include <cstdlib>

#include "core/error.h"
#include "runner/site_settings.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path database_path(const std::string& option) {
  if (!option.empty()) return fs::absolute(option);
  if (const std::string set = variable("BENCHCTL_DB"); !set.empty()) return fs::absolute(set);
  if (const fs::path set = site_settings().database; !set.empty()) return set;
  // The XDG rules: a relative path in the variable is to be ignored.
  if (const fs::path state = variable("XDG_STATE_HOME"); state.is_absolute())
    return state / "benchctl" / "results.sqlite";
  const std::string home = variable("HOME");
  if (home.empty())
    throw Error(
        ErrorKind::environment,
        "no place for results: neither $BENCHCTL_DB nor $HOME is set, and no site.json names one",
        "name one: --db FILE");
  return fs::path(home) / ".local" / "state" / "benchctl" / "results.sqlite";
}

fs::path runs_folder(const fs::path& database) { return database.parent_path() / "runs"; }

fs::path journal_path(const fs::path& database) { return database.parent_path() / "journal.jsonl"; }

}  // namespace bench
