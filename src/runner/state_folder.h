// The location of results: --db, $BENCHCTL_DB, the site's database, or the user's state folder; the runs
// are next to it.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

/// `option` (from --db) wins over $BENCHCTL_DB, that over site.json's, that over
/// ${XDG_STATE_HOME:-~/.local/state}/benchctl.
std::filesystem::path database_path(const std::string& option);
std::filesystem::path runs_folder(const std::filesystem::path& database);

}  // namespace bench
