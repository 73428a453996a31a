#include "runner/plan/part_scopes.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "core/error.h"
#include "core/part_variables.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostParts = 1024;  // of one host

std::string fact(const Host& host, const std::string& name) {
  const auto found = host.facts.find(name);
  return found == host.facts.end() ? "" : found->second;
}

/// Devices of a kind, counted by a fact.
std::vector<std::string> counted(const std::string& kind, const std::string& count) {
  std::size_t number = 0;
  std::from_chars(count.data(), count.data() + count.size(), number);
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < std::min(number, kMostParts); ++i)
    devices.push_back(kind + ":" + std::to_string(i));
  return devices;
}

/// "cuda" or "numa".
std::vector<std::string> devices_of(const Host& host, const std::string& kind) {
  if (host.devices.is_null())
    return counted(kind, fact(host, kind == "cuda" ? "gpus" : "numa_nodes"));
  std::vector<std::string> devices;
  for (const Json& device : host.devices)
    if (const auto& word = device.get_ref<const std::string&>(); word.starts_with(kind + ":"))
      devices.push_back(word);
  return devices;
}

std::string none_known(const Host& host, const std::string& kind) {
  const bool gpu = kind == "cuda";
  return "no " + std::string(gpu ? "GPUs" : "NUMA nodes") + " known on " + host.name + ": list \"devices\": [\"" + kind +
         ":0\", ...] in the hosts file, or first run a suite that detects them (" +
         (gpu ? "gpu" : "smoke") + ")";
}

HostSet device_set(std::size_t host, const std::string& device, int round,
                   const Inventory& inventory) {
  HostSet set{{host}, round, inventory.hosts[host].name + " " + device};
  set.part = {{"device", device}};
  if (device != "cpu") set.env[kDeviceVariable] = device;
  return set;
}

std::vector<std::string> cards_of(const Host& host) {
  if (!host.cards.empty()) return host.cards;
  std::vector<std::string> cards;
  std::istringstream words(fact(host, "cards"));
  for (std::string card; std::getline(words, card, ',') && cards.size() < kMostParts;)
    cards.push_back(card);
  return cards;
}

std::vector<std::vector<std::string>> cards_of_all(const Inventory& inventory) {
  std::vector<std::vector<std::string>> cards;
  for (const Host& host : inventory.hosts) {
    cards.push_back(cards_of(host));
    if (cards.back().empty())
      throw Error(ErrorKind::input, "scope rail: no network cards known on '" + host.name + "'",
                  "list \"cards\": [\"mlx5_0\", ...] for it in the hosts file");
    if (cards.back().size() != cards.front().size())
      throw Error(ErrorKind::input,
                  "scope rail: " + inventory.hosts.front().name + " has " +
                      std::to_string(cards.front().size()) + " network cards and " + host.name +
                      " has " + std::to_string(cards.back().size()),
                  "list the same number of \"cards\" for every host, or remove the host");
  }
  return cards;
}

HostSet rail_set(std::size_t rail, const std::vector<std::vector<std::string>>& cards,
                 const Inventory& inventory) {
  HostSet set{std::vector<std::size_t>(cards.size()), static_cast<int>(rail),
              "rail " + std::to_string(rail)};
  std::iota(set.hosts.begin(), set.hosts.end(), std::size_t{0});
  set.part = {{"rail", rail}};
  const std::string& first = cards.front()[rail];
  const bool same =
      std::ranges::all_of(cards, [&](const auto& of_host) { return of_host[rail] == first; });
  std::vector<std::string> each;
  for (std::size_t i = 0; i < cards.size(); ++i)
    each.push_back(inventory.hosts[i].name + "=" + cards[i][rail]);
  if (same) set.part["card"] = first;
  set.env[kCardsVariable] = same ? first : join(each, ",");
  return set;
}

}  // namespace

std::vector<HostSet> device_sets(const Inventory& inventory, const std::string& kind, bool numa) {
  const std::string word = kind == "cuda" ? "cuda" : numa ? "numa" : "cpu";
  std::vector<std::vector<std::string>> devices;
  std::size_t most = 1;
  for (const Host& host : inventory.hosts) {
    devices.push_back(word == "cpu" ? std::vector<std::string>{"cpu"} : devices_of(host, word));
    most = std::max(most, devices.back().size());
  }
  std::vector<HostSet> sets;
  for (std::size_t k = 0; k < most; ++k)
    for (std::size_t host = 0; host < devices.size(); ++host) {
      if (k < devices[host].size())
        sets.push_back(device_set(host, devices[host][k], static_cast<int>(k), inventory));
      else if (devices[host].empty() && k == 0) {
        sets.push_back({{host}, 0, inventory.hosts[host].name});
        sets.back().obstacle = none_known(inventory.hosts[host], word);
      }
    }
  return sets;
}

std::vector<HostSet> rail_sets(const Inventory& inventory) {
  const auto cards = cards_of_all(inventory);
  std::vector<HostSet> sets;
  for (std::size_t rail = 0; !cards.empty() && rail < cards.front().size(); ++rail)
    sets.push_back(rail_set(rail, cards, inventory));
  return sets;
}

}  // namespace bench
