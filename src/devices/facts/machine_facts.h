// Components of a host beyond a topology library: firmware, drivers, disks, NICs, kernel settings.
// Facts of the probe `topology`; results/verdicts/topology compares them between hosts.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/system_files.h"
#include "devices/topology.h"

namespace bench {

/// Reported by a network driver for itself and its NIC; each may be empty.
struct DriverInfo {
  std::string driver, version, firmware;
};
using AskDriver = std::function<std::optional<DriverInfo>(const std::string& interface)>;

/// By ioctl(2) SIOCETHTOOL, which needs no privileges. Nothing if the interface is not in our
/// network namespace, or its driver does not answer.
std::optional<DriverInfo> ask_ethtool(const std::string& interface);

/// Keys:
///   machine   {"vendor", "product", "board", "bios_vendor", "bios_version", "bios_date"}
///   processor {"model", "microcode", "architecture", "packages", "cores", "hardware_threads"}
///   software  {"kernel", "os", "nvidia_driver", "modules": {name: version}}
///   settings, kernel_options: see settings.h
///   network   [{"name", "pci_address", "driver", "driver_version", "firmware", "state",
///               "speed_bits_per_s", "mtu"}] of interfaces with a device, by name;
///               "" for no address, version or firmware, null for the speed of a link that is down
///   infiniband [{"name", "pci_address", "firmware", "board", "ports": [{"port", "state",
///               "physical_state", "rate", "link_layer"}]}] in the words of /sys/class/infiniband:
///               "ACTIVE", "200 Gb/sec (4X HDR)"
///   nvme      [{"name", "pci_address", "model", "firmware", "state", "size_bytes"}]
///   gpus      [{"pci_address", "model", "vbios"}] from NVIDIA's driver under /proc
///   pci       {address: {"driver", "subsystem", "link": see pci_link.h}} of machine's devices
/// {"unreadable": why} for what could not be read; "none" for what does not exist.
Json read_machine_facts(const SystemFiles& files, const Json& host, const MachineTopology& machine,
                        const AskDriver& ask = ask_ethtool);

/// The same keys for a topology saved elsewhere. Parts it lacks are {"unreadable": "not in a saved
/// topology"}.
Json saved_machine_facts(const MachineTopology& machine);

}  // namespace bench
