// Which hosts run a case together: a scope applied to an inventory. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

enum class ScopeKind {
  host,    // each by itself
  device,  // each device of each host alone
  pair,    // every two, in rounds of disjoint pairs
  rail,    // network card i of every host together
  group,   // the groups of the hosts file, or the hosts with equal values of a label or fact
  all,     // all at once
  ladder   // the first 1, 2, 4, ... and all: each set holds the one before
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
  std::vector<std::size_t> hosts;  // places in Inventory::hosts
  int round = 0;                   // sets of one round share no host and may run at once
  std::string label = {};          // the host, both hosts of a pair, the group, the count of a rung
  // Of a set that is a part of its hosts: Job::part, what tells the ranks, why it cannot be run.
  Json part = Json::object();
  std::map<std::string, std::string> env = {};
  std::string obstacle = {};
};

/// More sets than this are refused: every pair of 1,414 hosts.
inline constexpr std::size_t kMaxHostSets = 1'000'000;

/// In the order in which they are to run: by round. A pair needs two hosts: of one there is none.
/// `device`: what the case measures, "host" or "cuda". Throws Error(input) where the inventory has
/// no such groups, label, fact or cards, or for too many sets.
std::vector<HostSet> host_sets(const Scope& scope, const Inventory& inventory,
                               const std::string& device = "host");

}  // namespace bench
