// Which processors and which memory a loader uses, on a machine with several NUMA nodes.
#pragma once

#include <string>
#include <vector>

#include "probes/facts/system_files.h"

namespace bench::data {

struct CpuNode {
  int id = 0;
  std::vector<int> cpus = {};  // that this process may run on
};

/// Nodes on which this process may run, in order; one node 0 with all processors where the kernel
/// tells of none. A rank that drives a GPU was bound to its GPU's node before (part_of_host.h).
std::vector<CpuNode> cpu_nodes(const SystemFiles& files = SystemFiles());

/// Lets the calling thread run on these alone; nothing happens for none. Throws Error(environment).
void run_on(const std::vector<int>& cpus);

/// Processors this process may use at once: those it may run on, or less by a control group's
/// quota.
double usable_cores();

}  // namespace bench::data
