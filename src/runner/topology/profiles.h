// Files of profiles: what hosts should be.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "results/topology/profile.h"
#include "runner/hosts/inventory.h"

namespace bench {

/// A name, looked for in profiles/ beside the database and in hosts/profiles, or a file (with a "/"
/// or ending in .json). Throws Error(input) where there is none, naming those that there are.
std::filesystem::path find_profile(const std::string& name, const std::filesystem::path& database);

/// Checked by schemas/profile.json. Throws Error(input).
Profile profile_from_text(std::string_view text, const std::string& origin);
Profile read_profile(const std::filesystem::path& file);

/// Host -> its profile: `option` (a name or file) for all, else what the hosts file names for each;
/// hosts without one are left out. A profile is called as its file is.
std::map<std::string, Profile> profiles_of(const Inventory& inventory, const std::string& option,
                                           const std::filesystem::path& database);

/// Whole or not at all: a reader never sees half of it. A file that is there is replaced only with
/// `force`. Throws Error(input) where it is there, Error(environment) where it cannot be written.
void write_profile(const std::filesystem::path& file, const Profile& profile, bool force);

}  // namespace bench
