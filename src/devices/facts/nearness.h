// Which GPU hangs on which NUMA node, and which network card is next to it: data that goes from one
// to the other through a common PCIe switch never meets the processor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/topology.h"

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

/// Where a rank belongs that drives the GPU at a PCI address.
struct RankPlace {
  std::string gpu;                // its PCI address
  std::optional<int> node;        // nothing where it is not known
  std::vector<NearCard> nearest;  // network cards, as in GpuPlace
  std::string unknown;            // why the node is not known; "" when it is
};

RankPlace place_rank(const MachineTopology& machine, const std::string& gpu_address);

/// {"gpu", "numa_node", "nearest_network", "reason"}: null for what is not known.
Json to_json(const RankPlace& place);

/// [{"pci_address", "numa_nodes", "nearest_network": [{"pci_address", "names", "same_node",
/// "shared_bridges"}]}]
Json to_json(const std::vector<GpuPlace>& places);

}  // namespace bench
