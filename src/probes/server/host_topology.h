// The host's topology: hwloc on one side, the kernel's and the firmware's files on the other.
#pragma once

#include <memory>

#include "core/system_files.h"
#include "devices/topology.h"

namespace bench {

/// Null where this build has no hwloc.
std::unique_ptr<Topology> make_host_topology();

}  // namespace bench
