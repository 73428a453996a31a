// PCI addresses as the kernel writes them: "0000:3b:00.0".
#pragma once

#include <string>
#include <string_view>

#include "probes/facts/system_files.h"

namespace bench {

/// A domain may have more than four digits.
bool is_pci_address(std::string_view name);

/// Of the PCI device that what lies at `path` (a link, such as sys/class/net/eth0/device) belongs
/// to, be it through a bus of its own as virtio has one; "" where it is on no PCI bus.
std::string pci_address_of(const SystemFiles& files, const std::string& path);

}  // namespace bench
