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
/// ${XDG_STATE_HOME:-~/.local/state}/benchctl. Throws Error(input) if a folder, pipe or device is
/// there.
std::filesystem::path database_path(const std::string& option);
std::filesystem::path runs_folder(const std::filesystem::path& database);

/// Why the folder of results should have another mode: others can read the user's state folder, or
/// everybody can write to a folder chosen with --db, $BENCHCTL_DB or site.json. "" if it is right,
/// or missing: it is then made for this user only.
std::string open_folder_warning(const std::filesystem::path& database);

// Folders of a user, by the XDG Base Directory Specification.

/// The value of `variable` if it is an absolute path (the specification ignores others), else
/// `below_home` in $HOME; "" if neither is set.
std::filesystem::path user_folder(const char* variable, const char* below_home);

struct SiteSettings {
  std::filesystem::path database = {};  // "" for none
  std::string launcher = {};            // likewise
  Prices prices = {};
};

/// Reads the files that exist, in order: keys of later ones win, in prices for each product. Throws
/// Error(input) naming file and place.
SiteSettings read_site_settings(const std::vector<std::filesystem::path>& files);

/// /etc/benchctl and ${XDG_CONFIG_HOME:-~/.config}/benchctl: what a site and a user keep.
std::vector<std::filesystem::path> site_folders();

/// Only $BENCHCTL_SITE if it is set; else /etc/benchctl/site.json and
/// ${XDG_CONFIG_HOME:-~/.config}/benchctl/site.json.
std::vector<std::filesystem::path> site_files();

SiteSettings site_settings();

}  // namespace bench
