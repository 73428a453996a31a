// Network interfaces that are hardware, and InfiniBand devices, as the kernel names them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

/// What a driver says of itself and of its card.
struct DriverInfo {
  std::string driver, version, firmware;  // each may be empty
};
using AskDriver = std::function<std::optional<DriverInfo>(const std::string& interface)>;

/// By ioctl(2) SIOCETHTOOL, which needs no right. Nothing where the interface is not in our network
/// namespace, or its driver does not answer.
std::optional<DriverInfo> ask_ethtool(const std::string& interface);

/// [{"name", "pci_address", "driver", "driver_version", "firmware", "state", "speed_bits_per_s",
/// "mtu"}], by name. Interfaces without a device (bridges, bonds, veth) are left out. "" for an
/// address, version or firmware that there is none of; a speed of null: the link is down, or its
/// driver has none. {"unreadable": why} in the place of what could not be read.
Json read_network_facts(const SystemFiles& files, const AskDriver& ask = ask_ethtool);

/// [{"name", "pci_address", "firmware", "board", "ports": [{"port", "state", "physical_state",
/// "rate", "link_layer"}]}], as /sys/class/infiniband words them: "ACTIVE", "200 Gb/sec (4X HDR)".
Json read_infiniband_facts(const SystemFiles& files);

}  // namespace bench
