#include "runner/state_folder.h"

#include "core/error.h"
#include "runner/site_settings.h"
#include "runner/user_folders.h"

namespace bench {
namespace fs = std::filesystem;

fs::path database_path(const std::string& option) {
  if (!option.empty()) return fs::absolute(option);
  if (const std::string set = environment_variable("BENCHCTL_DB"); !set.empty())
    return fs::absolute(set);
  if (const fs::path set = site_settings().database; !set.empty()) return set;
  const fs::path state = user_folder("XDG_STATE_HOME", ".local/state");
  if (state.empty())
    throw Error(
        ErrorKind::environment,
        "no database location: $BENCHCTL_DB and $HOME are unset, and site.json names none",
        "choose one with --db FILE");
  return state / "benchctl" / "results.sqlite";
}

fs::path runs_folder(const fs::path& database) { return database.parent_path() / "runs"; }

}  // namespace bench
