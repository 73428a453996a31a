// Scopes that are smaller than a host: each device alone, and each network card of all hosts
// together. Pure; what a host has is what the hosts file lists, else what earlier runs found.
#pragma once

#include <string>
#include <vector>

#include "runner/plan/scopes.h"

namespace bench {

/// Each device of each host alone; the first of every host, then the second. `kind`: what the case
/// measures, "host" or "cuda". `numa`: the host's NUMA nodes, where it is "host"; else its CPU. A
/// host of which no such device is known is one set with an obstacle.
std::vector<HostSet> device_sets(const Inventory& inventory, const std::string& kind, bool numa);

/// Card i of every host together, one rail after the other. Throws Error(input) naming a host that
/// has no cards, or another number than the first.
std::vector<HostSet> rail_sets(const Inventory& inventory);

}  // namespace bench
