// Sources of host topologies: a run that probed them, or files written by lstopo.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/topology/fleet.h"
#include "runner/hosts/inventory.h"

namespace bench {

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

}  // namespace bench
