// Scopes below a host: single devices, and rails (one network card of every host). Pure; a host's devices
// come from the hosts file, else from earlier runs.
#pragma once

#include <string>
#include <vector>

#include "runner/plan/scopes.h"

namespace bench {

/// Each device alone: the first of every host, then the second, and so on. `kind`: "host" or "cuda".
/// `numa`: NUMA nodes instead of the CPU. A host without known devices is one set with an obstacle.
std::vector<HostSet> device_sets(const Inventory& inventory, const std::string& kind, bool numa);

/// Card i of every host, one rail after the other. Throws Error(input) if a host has no cards or a
/// different number.
std::vector<HostSet> rail_sets(const Inventory& inventory);

}  // namespace bench
