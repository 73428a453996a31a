#include "devices/facts/nearness.h"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

constexpr const char* kNvidia = "10de:";

/// Display devices of other vendors are mostly management processors.
bool is_gpu(const PciDevice& device) {
  return device.kind == "display" && device.id.starts_with(kNvidia);
}

bool is_network_card(const PciDevice& device) {
  return device.kind == "network" || device.kind == "infiniband";
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Only if both are known: a device near all nodes is near none.
bool share_node(const PciDevice& a, const PciDevice& b) {
  return a.numa_nodes.size() == 1 && a.numa_nodes == b.numa_nodes;
}

std::size_t shared_bridges(const PciDevice& a, const PciDevice& b) {
  return static_cast<std::size_t>(
      std::count_if(a.bridges.begin(), a.bridges.end(),
                    [&](const std::string& bridge) { return contains(b.bridges, bridge); }));
}

std::vector<std::string> names_of(const MachineTopology& machine, const std::string& address) {
  std::vector<std::string> names;
  for (const OsDevice& device : machine.os_devices)
    if (device.pci_address == address && (device.kind == "network" || device.kind == "infiniband"))
      names.push_back(device.name);
  return names;
}

std::pair<std::size_t, bool> closeness(const NearCard& card) {
  return {card.shared_bridges, card.same_node};
}

std::vector<NearCard> nearest_cards(const MachineTopology& machine, const PciDevice& gpu) {
  std::vector<NearCard> cards;
  for (const PciDevice& device : machine.pci_devices)
    if (is_network_card(device))
      cards.push_back({device.address, names_of(machine, device.address), share_node(gpu, device),
                       shared_bridges(gpu, device)});
  const auto best = std::max_element(cards.begin(), cards.end(), [](const auto& a, const auto& b) {
    return closeness(a) < closeness(b);
  });
  if (best == cards.end()) return cards;
  const auto highest = closeness(*best);
  std::erase_if(cards, [&](const NearCard& card) { return closeness(card) != highest; });
  return cards;
}

Json cards_json(const std::vector<NearCard>& nearest) {
  Json cards = Json::array();
  for (const NearCard& card : nearest)
    cards.push_back({{"pci_address", card.address},
                     {"names", card.names},
                     {"same_node", card.same_node},
                     {"shared_bridges", card.shared_bridges}});
  return cards;
}

}  // namespace

std::vector<GpuPlace> place_gpus(const MachineTopology& machine) {
  std::vector<GpuPlace> places;
  for (const PciDevice& device : machine.pci_devices)
    if (is_gpu(device))
      places.push_back({device.address, device.numa_nodes, nearest_cards(machine, device)});
  std::sort(places.begin(), places.end(),
            [](const GpuPlace& a, const GpuPlace& b) { return a.address < b.address; });
  return places;
}

RankPlace place_rank(const MachineTopology& machine, const std::string& gpu_address) {
  const std::vector<GpuPlace> places = place_gpus(machine);
  const auto place = std::ranges::find(places, gpu_address, &GpuPlace::address);
  if (place == places.end()) return {gpu_address, {}, {}, "the topology has no such GPU"};
  RankPlace rank{gpu_address, {}, place->nearest, ""};
  if (place->numa_nodes.size() == 1)
    rank.node = place->numa_nodes.front();
  else
    rank.unknown = place->numa_nodes.empty()
                       ? "the firmware does not report the GPU's NUMA node"
                       : "the GPU is equally close to " + std::to_string(place->numa_nodes.size()) +
                             " NUMA nodes";
  return rank;
}

Json to_json(const RankPlace& place) {
  return {{"gpu", place.gpu},
          {"numa_node", place.node ? Json(*place.node) : Json(nullptr)},
          {"nearest_network", cards_json(place.nearest)},
          {"reason", place.unknown.empty() ? Json(nullptr) : Json(place.unknown)}};
}

Json to_json(const std::vector<GpuPlace>& places) {
  Json json = Json::array();
  for (const GpuPlace& place : places)
    json.push_back({{"pci_address", place.address},
                    {"numa_nodes", place.numa_nodes},
                    {"nearest_network", cards_json(place.nearest)}});
  return json;
}

}  // namespace bench
