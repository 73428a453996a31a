// NUMA node and nearest NICs of each GPU: traffic between a GPU and a NIC under a common PCIe
// switch bypasses the processor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/topology.h"

namespace bench {

struct NearCard {
  std::string address;             // PCI address
  std::vector<std::string> names;  // "mlx5_0", "eth0"; empty without a driver
  bool same_node = false;
  /// Number of bridges above both. 1: only the host bridge, so the path leads through the
  /// processor; more: a switch, or ports of one device. 0: none.
  std::size_t shared_bridges = 0;
};

struct GpuPlace {
  std::string address;
  std::vector<int> numa_nodes;
  std::vector<NearCard> nearest;  // the nearest NICs, all equally near
};

/// Every NVIDIA GPU, by address.
std::vector<GpuPlace> place_gpus(const MachineTopology& machine);

/// Best placement of a rank that uses a GPU.
struct RankPlace {
  std::string gpu;                // its PCI address
  std::optional<int> node;        // nothing if unknown
  std::vector<NearCard> nearest;  // NICs, as in GpuPlace
  std::string unknown;            // why the node is unknown; "" if it is known
};

RankPlace place_rank(const MachineTopology& machine, const std::string& gpu_address);

/// {"gpu", "numa_node", "nearest_network", "reason"}; null for unknown.
Json to_json(const RankPlace& place);

/// [{"pci_address", "numa_nodes", "nearest_network": [{"pci_address", "names", "same_node",
/// "shared_bridges"}]}]
Json to_json(const std::vector<GpuPlace>& places);

}  // namespace bench
