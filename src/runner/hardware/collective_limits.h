// The limits of a collective by operation, algorithm and path: inside a node over the device links,
// reduced in the switch or not, and between nodes over the network cards.
// Rates are busbw and algbw as nccl-tests defines them.
#pragma once

#include <optional>
#include <string>

#include "core/record.h"
#include "runner/hardware/hardware_catalogue.h"

namespace bench {

struct CollectivePath {
  std::string op = "all_reduce";
  int ranks = 0;  // over all nodes; 0: unknown, treated as very many
  int nodes = 1;  // of devices that reach each other over device links: an NVL72 rack is one
  std::string algorithm;  // ring, nvls; empty: the better one that the product supports
  std::optional<int> nics_per_node;
  std::optional<double> nic_bytes_per_second;  // of one card, one direction
  bool reduces_in_network = false;             // SHARP in the switches between nodes
};

/// From parameters of the same names; missing or invalid ones keep the defaults above.
CollectivePath collective_path(const Json& params);

/// busbw / algbw: 2(n-1)/n for all_reduce.
double busbw_factor(const CollectivePath& path);

std::optional<Limit> busbw_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                 const CollectivePath& path);
std::optional<Limit> algbw_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                 const CollectivePath& path);
/// Of all cards of a node together, in busbw; empty inside one node or for unknown cards.
std::optional<Limit> between_nodes_limit(const CollectivePath& path);
/// One network card, one direction.
std::optional<Limit> nic_limit(const Json& params);

}  // namespace bench
