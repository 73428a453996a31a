// The PCIe links between a device and the processor, from /sys. A link at rest goes down to
// generation 1, so its generation is what both of its ends can; its width does not sleep, so that
// is the one it has now.
#pragma once

#include <string>

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

/// For a device at "0000:3b:00.0", letters small or not; keys that nobody can tell are left out:
///   pcie_generation, pcie_lanes          of the slowest link of its path when it is awake
///   pcie_generation_now                  of the device's own link at this moment
///   pcie_generation_max, pcie_lanes_max  of the device itself
///   pcie_slowest                         where the slowest link is not the device's own: the
///                                        address of its lower end
/// The port of a virtual machine is not believed: QEMU's by its maker, any that claims less than
/// what its device runs at.
Json read_pci_link(const SystemFiles& files, std::string address);

}  // namespace bench
