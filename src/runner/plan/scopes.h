// Applies a scope to an inventory: the sets of hosts that run a case together. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

enum class ScopeKind {
  host,    // each host alone
  device,  // each device of each host alone
  pair,    // all pairs, in rounds of disjoint pairs
  rail,    // network card i of every host
  group,   // groups of the hosts file, or hosts with equal label or fact
  all,     // all hosts together
  ladder   // the first 1, 2, 4, ... hosts and all
};

struct Scope {
  ScopeKind kind = ScopeKind::host;
  /// group: the label, "" for the groups of the hosts file; device: "numa", or "".
  std::string by = {};
  bool by_fact = false;  // group: `by` is a fact
  bool operator==(const Scope&) const = default;
};

/// "host", "device", "pair", "rail", "group", "all", "ladder", {"group": LABEL}, {"group": {"fact":
/// NAME}} or {"device": "numa"}. Throws Error(input).
Scope scope_from_json(const Json& json);
Json to_json(const Scope& scope);
/// "host", "group by rack".
std::string to_string(const Scope& scope);

struct HostSet {
  std::vector<std::size_t> hosts;  // indices into Inventory::hosts
  int round = 0;                   // sets of one round are disjoint and may run in parallel
  std::string label = {};          // host, hosts of the pair, group, or number of hosts
  // For part scopes: Job::part, environment of the ranks, reason it cannot run.
  Json part = Json::object();
  std::map<std::string, std::string> env = {};
  std::string obstacle = {};
};

/// Maximum number of sets: all pairs of 1,414 hosts.
inline constexpr std::size_t kMaxHostSets = 1'000'000;

/// In execution order, by round. One host makes no pair. `device`: "host" or "cuda". Throws
/// Error(input) if the inventory has no such groups, label, fact or cards, or for too many sets.
std::vector<HostSet> host_sets(const Scope& scope, const Inventory& inventory,
                               const std::string& device = "host");

// Scopes below a host: single devices, and rails (one network card of every host). Pure; a host's
// devices come from the hosts file, else from earlier runs.

/// Each device alone: the first of every host, then the second, and so on. `kind`: "host" or
/// "cuda". `numa`: NUMA nodes instead of the CPU. A host without known devices is one set with an
/// obstacle.
std::vector<HostSet> device_sets(const Inventory& inventory, const std::string& kind, bool numa);

/// Card i of every host, one rail after the other. Throws Error(input) if a host has no cards or a
/// different number.
std::vector<HostSet> rail_sets(const Inventory& inventory);

}  // namespace bench
