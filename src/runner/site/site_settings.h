// Settings of a site or user: database, launcher, prices (schemas/site.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/verdicts/compare/ladder.h"
#include "results/verdicts/peers/fleet_profile.h"

namespace bench {

// Criteria written by `benchctl report fleet --learn FILE`.

/// Throws Error(environment) if unreadable, Error(input) if invalid.
FleetProfile read_fleet_profile(const std::string& path);

// The user's name for the journal.

/// Name of the real user, or the UID if it has no name.
std::string user_name();

// The location of results: --db, $BENCHCTL_DB, the site's database, or the user's state folder; the
// runs are next to it.

/// `option` (from --db) wins over $BENCHCTL_DB, that over site.json's, that over
/// ${XDG_STATE_HOME:-~/.local/state}/benchctl.
std::filesystem::path database_path(const std::string& option);
std::filesystem::path runs_folder(const std::filesystem::path& database);

// Folders of a user, by the XDG Base Directory Specification.

/// "" if not set.
std::string environment_variable(const char* name);

/// What `variable` names, where that is an absolute path: the rules say that others are to be
/// ignored. Else `below_home` of $HOME; "" where that is not set either.
std::filesystem::path user_folder(const char* variable, const char* below_home);

struct SiteSettings {
  std::filesystem::path database = {};  // "" where none is named
  std::string launcher = {};            // likewise
  Prices prices = {};
};

/// Of files in this order; keys of a later one count, of prices each product's. Files that do not
/// exist are passed over. Throws Error(input) naming file and place.
SiteSettings read_site_settings(const std::vector<std::filesystem::path>& files);

/// $BENCHCTL_SITE alone where it is set; else /etc/benchctl/site.json and
/// ${XDG_CONFIG_HOME:-~/.config}/benchctl/site.json.
std::vector<std::filesystem::path> site_files();

SiteSettings site_settings();

}  // namespace bench
