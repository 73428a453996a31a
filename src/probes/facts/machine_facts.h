// What a host is made of beyond what a topology library tells: the firmware's versions, drivers and
// their versions, disks, cards, kernel settings. Facts of the probe `topology`; results/topology
// compares them between hosts.
#pragma once

#include "core/json.h"
#include "probes/device/topology.h"
#include "probes/facts/network_facts.h"
#include "probes/facts/system_files.h"

namespace bench {

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
