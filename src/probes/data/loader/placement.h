// The processors and the memory that a loader uses on a machine with several NUMA nodes.
#pragma once

#include <vector>

#include "core/system_files.h"

namespace bench::data {

struct CpuNode {
  int id = 0;
  std::vector<int> cpus = {};  // that the kernel grants
};

/// The nodes on which threads of this process can run, in order, whatever their current binding: a
/// rank that drives a GPU is bound to the node of its GPU. Without the processors that a control
/// group forbids. One node 0 with the current processors if the kernel reports no nodes.
std::vector<CpuNode> cpu_nodes(const SystemFiles& files = SystemFiles());

/// Binds the calling thread to these processors; does nothing for none. Throws Error(environment).
void run_on(const std::vector<int>& cpus);

/// Resets the calling thread's memory policy: pages are allocated on the node of their first touch.
void touch_where_it_runs();

/// Processors this process may use at once: its affinity, or less by the quota of a control group.
double usable_cores();

}  // namespace bench::data
