// The machine according to hwloc: this one, or one saved as XML (for tests).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "devices/topology.h"

namespace bench {

struct NodeBinding {
  std::vector<int> cpus;  // allowed now; empty: the threads were not bound
  bool memory = false;    // new pages come from the node while it has any
  std::string obstacle;   // why the binding is incomplete; "" if it is complete
};

/// Binds this process to a NUMA node, as numbered by the kernel: existing and later threads to its
/// processors that the cgroup allows, new pages to its memory. Overrides a launcher's binding.
NodeBinding bind_to_node(int node);

bool hwloc_is_built();

/// This machine if `xml` is empty, without offline processors, but with those of other cgroups.
/// Throws Error(environment) if hwloc fails. Takes about 10 ms, mostly for PCI.
MachineTopology read_hwloc(const std::filesystem::path& xml = {});

}  // namespace bench
