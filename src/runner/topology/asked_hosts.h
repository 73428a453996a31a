// Where the topology of hosts comes from: a run that asked them, or files that lstopo wrote.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/topology/fleet.h"
#include "runner/hosts/inventory.h"

namespace bench {

struct ProbedHosts {
  std::vector<HostTopology> hosts;
  Inventory inventory;      // with their profiles, where a hosts file named them
  std::string run = {};     // its id; "" for files
  std::string source = {};  // the run, or the files
  bool indexed = true;
  bool interrupted = false;
};

/// Throws Error(input) for a run that asked no host.
ProbedHosts hosts_of_run(const std::filesystem::path& folder);

/// Each file a host of its name. bench-rank reads them: benchctl has no topology library. Throws
/// Error(usage) for two files of one name, Error(input) for one that is not there or no topology,
/// with the program's words, Error(environment) without that program.
ProbedHosts saved_hosts(const std::vector<std::string>& files, const std::string& rank_program);

}  // namespace bench
