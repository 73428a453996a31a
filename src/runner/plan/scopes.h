// Which hosts run a case together: a scope applied to an inventory. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

enum class ScopeKind {
  host,   // each by itself
  pair,   // every two, in rounds of disjoint pairs
  group,  // the groups of the hosts file, or the hosts with equal values of a label
  all,    // all at once
  ladder  // the first 1, 2, 4, ... and all: each set holds the one before
};

struct Scope {
  ScopeKind kind = ScopeKind::host;
  std::string by = {};  // group: the label; "" for the groups of the hosts file
  bool operator==(const Scope&) const = default;
};

/// "host", "pair", "group", "all", "ladder", or {"group": LABEL}. Throws Error(input).
Scope scope_from_json(const Json& json);
Json to_json(const Scope& scope);
/// "host", "group by rack".
std::string to_string(const Scope& scope);

struct HostSet {
  std::vector<std::size_t> hosts;  // places in Inventory::hosts
  int round = 0;                   // sets of one round share no host and may run at once
  std::string label = {};          // the host, both hosts of a pair, the group, the count of a rung
};

/// More sets than this are refused: every pair of 1,414 hosts.
inline constexpr std::size_t kMaxHostSets = 1'000'000;

/// In the order in which they are to run: by round. A pair needs two hosts: of one there is none.
/// Throws Error(input) where the inventory has no such groups or label, or for too many sets.
std::vector<HostSet> host_sets(const Scope& scope, const Inventory& inventory);

}  // namespace bench
