// The machine as hwloc sees it: this one, or one that was saved as XML (for tests).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "devices/topology.h"

namespace bench {

// Ties this process to a NUMA node: its threads to the node's processors, what it allocates to the
// node's memory.

struct NodeBinding {
  std::vector<int> cpus;  // it may run on now; empty: its threads were not bound
  bool memory = false;    // new pages come from the node as long as it has any
  std::string obstacle;   // why a part of it, or all of it, was not done; "" when all was
};

/// `node` as the kernel counts them. Processors that the cgroup does not allow are left out.
/// Threads that exist are bound too, and those made later follow; a launcher's binding is
/// overruled.
NodeBinding bind_to_node(int node);

/// Whether this build has it.
bool hwloc_is_built();

/// `xml` empty: this machine, offline processors left out, those of other cgroups included.
/// Throws Error(environment) when hwloc cannot read it. Takes about 10 ms, most of it for PCI.
MachineTopology read_hwloc(const std::filesystem::path& xml = {});

}  // namespace bench
