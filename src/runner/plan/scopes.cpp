#include "runner/plan/scopes.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "core/error.h"
#include "core/job.h"
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
  return "no " + std::string(gpu ? "GPUs" : "NUMA nodes") + " known on " + host.name +
         ": list \"devices\": [\"" + kind +
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

namespace {

// In the order of ScopeKind.
const std::vector<std::string> kKinds = {"host",  "device", "pair",  "rail",
                                         "group", "all",    "ladder"};

std::string name_of(ScopeKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::string scope_names() {
  return "use one of: " + join(kKinds, ", ") +
         ", {\"group\": LABEL}, {\"group\": {\"fact\": NAME}}, {\"device\": \"numa\"}";
}

[[noreturn]] void refuse(const std::string& what, const std::string& near = "") {
  throw Error(ErrorKind::input, "scope: " + what + (near.empty() ? "" : "." + near), scope_names());
}

HostSet first_hosts(std::size_t count, std::string label) {
  HostSet set{std::vector<std::size_t>(count), 0, std::move(label)};
  std::iota(set.hosts.begin(), set.hosts.end(), std::size_t{0});
  return set;
}

std::vector<HostSet> each_host(const Inventory& inventory) {
  std::vector<HostSet> sets;
  for (std::size_t i = 0; i < inventory.hosts.size(); ++i)
    sets.push_back({{i}, 0, inventory.hosts[i].name});
  return sets;
}

HostSet pair_of(std::size_t a, std::size_t b, std::size_t round, const Inventory& inventory) {
  const auto [first, second] = std::minmax(a, b);
  return {{first, second},
          static_cast<int>(round),
          inventory.hosts[first].name + "," + inventory.hosts[second].name};
}

/// Round-robin tournament by the circle method (Kirkman): each pair meets once, in hosts - 1 rounds
/// for an even number of hosts and in hosts rounds for an odd one.
std::vector<HostSet> tournament(const Inventory& inventory) {
  const std::size_t hosts = inventory.hosts.size();
  if (hosts < 2) return {};
  if (hosts > 2 * kMaxHostSets || hosts * (hosts - 1) / 2 > kMaxHostSets)
    throw Error(ErrorKind::input,
                "scope pair: " + std::to_string(hosts) + " hosts make more than " +
                    std::to_string(kMaxHostSets) + " pairs",
                "use fewer hosts");
  const bool even = hosts % 2 == 0;
  const std::size_t m = even ? hosts - 1 : hosts;
  std::vector<HostSet> sets;
  sets.reserve(hosts * (hosts - 1) / 2);
  for (std::size_t round = 0; round < m; ++round) {
    if (even) sets.push_back(pair_of(round, m, round, inventory));
    for (std::size_t k = 1; k <= (m - 1) / 2; ++k)
      sets.push_back(pair_of((round + k) % m, (round + m - k) % m, round, inventory));
  }
  return sets;
}

std::vector<HostSet> ladder(const Inventory& inventory) {
  const std::size_t hosts = inventory.hosts.size();
  std::vector<HostSet> sets;
  for (std::size_t count = 1; count < hosts; count *= 2)
    sets.push_back(first_hosts(count, std::to_string(count)));
  if (hosts > 0) sets.push_back(first_hosts(hosts, std::to_string(hosts)));
  for (std::size_t i = 0; i < sets.size(); ++i) sets[i].round = static_cast<int>(i);
  return sets;
}

std::vector<HostGroup> groups_for_fact(const std::string& fact, const Inventory& inventory) {
  auto groups = groups_by_fact(inventory, fact);
  if (!groups.empty()) return groups;
  const auto known = fact_names(inventory);
  throw Error(ErrorKind::input,
              "scope group: fact '" + printable(fact) + "' is not known for any host." +
                  did_you_mean(fact, known),
              (known.empty() ? "no facts are stored for these hosts: run the smoke suite on them"
                             : "facts: " + join(known, ", ")) +
                  ", or set a label of that name in the hosts file");
}

std::vector<HostGroup> groups_for(const Scope& scope, const Inventory& inventory) {
  const std::string& label = scope.by;
  if (scope.by_fact) return groups_for_fact(label, inventory);
  if (label.empty()) {
    if (inventory.groups.empty())
      throw Error(ErrorKind::input, "scope group: the hosts file has no groups",
                  "add \"groups\" to the hosts file, or group by a label: {\"group\": \"rack\"}");
    return inventory.groups;
  }
  auto groups = groups_by_label(inventory, label);
  if (groups.empty()) {
    const auto known = label_names(inventory);
    throw Error(ErrorKind::input,
                "scope group: no host has the label '" + printable(label) + "'." +
                    did_you_mean(label, known),
                known.empty() ? "the hosts have no labels" : "labels: " + join(known, ", "));
  }
  return groups;
}

bool share_a_host(const std::vector<HostGroup>& groups, std::size_t hosts) {
  std::vector<bool> seen(hosts);
  for (const HostGroup& group : groups)
    for (const std::size_t host : group.hosts) {
      if (seen[host]) return true;
      seen[host] = true;
    }
  return false;
}

std::vector<HostSet> grouped(const Scope& scope, const Inventory& inventory) {
  const auto groups = groups_for(scope, inventory);
  const bool apart = !share_a_host(groups, inventory.hosts.size());
  std::vector<HostSet> sets;
  for (const HostGroup& group : groups)
    sets.push_back({group.hosts, apart ? 0 : static_cast<int>(sets.size()), group.name});
  return sets;
}

bool is_word(const Json& json) { return json.is_string() && json != ""; }

Scope group_scope(const Json& json) {
  const Json& by = json["group"];
  if (is_word(by)) return {ScopeKind::group, by};
  if (by.is_object() && by.size() == 1 && by.contains("fact") && is_word(by["fact"]))
    return {ScopeKind::group, by["fact"], true};
  refuse(excerpt(json) + " is not a label");
}

Scope scope_with_value(const Json& json) {
  for (const auto& [key, value] : json.items())
    if (key != "group" && key != "device")
      refuse("'" + printable(key) + "' takes no value",
             did_you_mean(key, std::vector<std::string>{"group", "device"}));
  if (json.size() != 1) refuse(excerpt(json) + " needs exactly one key");
  if (json.contains("group")) return group_scope(json);
  if (json["device"] != "numa") refuse("unknown device kind " + excerpt(json["device"]));
  return {ScopeKind::device, "numa"};
}

}  // namespace

Scope scope_from_json(const Json& json) {
  if (json.is_object()) return scope_with_value(json);
  if (!json.is_string()) refuse("expected a string or an object, but got " + excerpt(json));
  const auto& word = json.get_ref<const std::string&>();
  const auto found = std::ranges::find(kKinds, word);
  if (found == kKinds.end())
    refuse("unknown scope '" + printable(word) + "'", did_you_mean(word, kKinds));
  return {static_cast<ScopeKind>(found - kKinds.begin()), ""};
}

Json to_json(const Scope& scope) {
  if (scope.by_fact) return {{"group", {{"fact", scope.by}}}};
  if (!scope.by.empty()) return {{name_of(scope.kind), scope.by}};
  return name_of(scope.kind);
}

std::string to_string(const Scope& scope) {
  return name_of(scope.kind) + (scope.by.empty() ? "" : " by " + scope.by);
}

std::vector<HostSet> host_sets(const Scope& scope, const Inventory& inventory,
                               const std::string& device) {
  switch (scope.kind) {
    case ScopeKind::host:
      return each_host(inventory);
    case ScopeKind::device:
      return device_sets(inventory, device, scope.by == "numa");
    case ScopeKind::rail:
      return rail_sets(inventory);
    case ScopeKind::pair:
      return tournament(inventory);
    case ScopeKind::group:
      return grouped(scope, inventory);
    case ScopeKind::all:
      return {first_hosts(inventory.hosts.size(), "all")};
    case ScopeKind::ladder:
      return ladder(inventory);
  }
  throw Error(ErrorKind::internal, "a scope without a kind");
}

}  // namespace bench
