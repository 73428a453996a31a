// What a host is made of beyond what a topology library tells: the firmware's versions, drivers and
// their versions, disks, cards, kernel settings. Facts of the probe `topology`; results/topology
// compares them between hosts.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/system_files.h"
#include "devices/topology.h"

namespace bench {

// Network interfaces that are hardware, and InfiniBand devices, as the kernel names them.

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

/// Keys:
///   machine   {"vendor", "product", "board", "bios_vendor", "bios_version", "bios_date"}
///   processor {"model", "microcode", "architecture", "packages", "cores", "hardware_threads"}
///   software  {"kernel", "os", "nvidia_driver", "modules": {name: version}}
///   settings, kernel_options, network, infiniband: see settings.h and network_facts.h
///   nvme      [{"name", "pci_address", "model", "firmware", "state", "size_bytes"}]
///   gpus      [{"pci_address", "model", "vbios"}] as NVIDIA's driver says them under /proc
///   pci       {address: {"driver", "subsystem", "link": see pci_link.h}} of machine's devices
/// {"unreadable": why} in the place of what could not be read; "none" for what there is not.
Json read_machine_facts(const SystemFiles& files, const Json& host, const MachineTopology& machine,
                        const AskDriver& ask = ask_ethtool);

/// The same keys as far as a topology knows them that was saved elsewhere: there is no kernel to
/// ask. A whole part that it does not tell is {"unreadable": "not in a saved topology"}.
Json saved_machine_facts(const MachineTopology& machine);

}  // namespace bench
