// The machine as hwloc sees it: this one, or one that was saved as XML (for tests).
#pragma once

#include <filesystem>

#include "probes/device/topology.h"

namespace bench {

/// Whether this build has it.
bool hwloc_is_built();

/// `xml` empty: this machine, offline processors left out, those of other cgroups included.
/// Throws Error(environment) when hwloc cannot read it. Takes about 10 ms, most of it for PCI.
MachineTopology read_hwloc(const std::filesystem::path& xml = {});

}  // namespace bench
