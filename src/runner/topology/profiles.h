// Profile files: expected shapes of hosts.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "results/topology/profile.h"
#include "runner/hosts/inventory.h"

namespace bench {

/// A name in profiles/ next to the database or in hosts/profiles, or a file (with a "/" or ending
/// in .json). Throws Error(input), listing the available profiles, if there is none.
std::filesystem::path find_profile(const std::string& name, const std::filesystem::path& database);

/// Checked by schemas/profile.json. Throws Error(input).
Profile profile_from_text(std::string_view text, const std::string& origin);
Profile read_profile(const std::filesystem::path& file);

/// Host -> profile: `option` (a name or file) for all, else the profile in the hosts file, without
/// hosts that have none. A profile is named after its file.
std::map<std::string, Profile> profiles_of(const Inventory& inventory, const std::string& option,
                                           const std::filesystem::path& database);

/// Atomic. Replaces an existing file only with `force`; else throws Error(input). Throws
/// Error(environment) if it cannot be written.
void write_profile(const std::filesystem::path& file, const Profile& profile, bool force);

}  // namespace bench
