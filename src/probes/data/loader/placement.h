// Which processors and which memory a loader uses, on a machine with several NUMA nodes.
#pragma once

#include <vector>

#include "core/system_files.h"

namespace bench::data {

struct CpuNode {
  int id = 0;
  std::vector<int> cpus = {};  // that the kernel grants
};

/// Nodes on which threads of this process can be put, in order, whatever they are bound to now: a
/// rank that drives a GPU was bound to its GPU's node before. What a control group forbids is left
/// out. One node 0 with the processors of now where the kernel tells of none.
std::vector<CpuNode> cpu_nodes(const SystemFiles& files = SystemFiles());

/// Lets the calling thread run on these alone; nothing happens for none. Throws Error(environment).
void run_on(const std::vector<int>& cpus);

/// What the calling thread touches first lies on the node it runs on, whatever it was told before.
void touch_where_it_runs();

/// Processors this process may use at once: those it may run on, or less by a control group's
/// quota.
double usable_cores();

}  // namespace bench::data
