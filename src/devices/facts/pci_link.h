// PCIe links between a device and the processor, from /sys. An idle link drops to generation 1, so
// its generation is what both ends support; its width does not change, so that is the current one.
#pragma once

#include <string>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// Address of the PCI device at or above `path` (a link such as sys/class/net/eth0/device), also
/// through a bus of its own as for virtio; "" if it is not on a PCI bus.
std::string pci_address_of(const SystemFiles& files, const std::string& path);

/// Link facts of a device at "0000:3b:00.0", in either letter case. Unknown keys are absent:
///   pcie_generation, pcie_lanes          of the slowest link of its path when active
///   pcie_generation_now                  of the device's own link at this moment
///   pcie_generation_max, pcie_lanes_max  of the device itself
///   pcie_slowest                         lower end of the slowest link, if not the device
/// Ports of virtual machines are ignored: QEMU's by vendor, others if they claim less than their
/// device uses.
Json read_pci_link(const SystemFiles& files, std::string address);

}  // namespace bench
