// Which GPU hangs on which NUMA node, and which network card is next to it: data that goes from one
// to the other through a common PCIe switch never meets the processor.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "probes/device/topology.h"

namespace bench {

struct NearCard {
  std::string address;             // of the PCI device
  std::vector<std::string> names;  // "mlx5_0", "eth0"; empty where no driver has it
  bool same_node = false;
  /// Bridges both hang under. 1: only the host bridge in common, so the way leads through the
  /// processor; more: a switch, or ports of one device. 0: not even that.
  std::size_t shared_bridges = 0;
};

struct GpuPlace {
  std::string address;
  std::vector<int> numa_nodes;
  std::vector<NearCard> nearest;  // the network cards none of which is nearer than another
};

/// Every NVIDIA GPU of the machine, in order of address.
std::vector<GpuPlace> place_gpus(const MachineTopology& machine);

/// [{"pci_address", "numa_nodes", "nearest_network": [{"pci_address", "names", "same_node",
/// "shared_bridges"}]}]
Json to_json(const std::vector<GpuPlace>& places);

}  // namespace bench
