// Profile files: expected shapes of hosts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "results/verdicts/topology/fleet.h"
#include "results/verdicts/topology/profile.h"
#include "runner/hosts/inventory.h"

namespace bench {

// Sources of host topologies: a run that probed them, or files written by lstopo.

struct ProbedHosts {
  std::vector<HostTopology> hosts;
  Inventory inventory;      // with profiles from the hosts file
  std::string run = {};     // its ID; "" for files
  std::string source = {};  // the run, or the files
  bool indexed = true;
  bool interrupted = false;
};

/// Throws Error(input) for a run without topology jobs.
ProbedHosts hosts_of_run(const std::filesystem::path& folder);

/// One host per file, named after it. bench-rank reads them, as benchctl has no topology library.
/// Throws Error(usage) for duplicate names, Error(input) for a missing or malformed file with the
/// message of the program, Error(environment) without that program.
ProbedHosts saved_hosts(const std::vector<std::string>& files, const std::string& rank_program);

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
