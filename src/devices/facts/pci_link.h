// The PCIe links between a device and the processor, from /sys. A link at rest goes down to
// generation 1, so its generation is what both of its ends can; its width does not sleep, so that
// is the one it has now.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

// PCI addresses as the kernel writes them: "0000:3b:00.0".

/// A domain may have more than four digits.
bool is_pci_address(std::string_view name);

/// Of the PCI device that what lies at `path` (a link, such as sys/class/net/eth0/device) belongs
/// to, be it through a bus of its own as virtio has one; "" where it is on no PCI bus.
std::string pci_address_of(const SystemFiles& files, const std::string& path);

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
