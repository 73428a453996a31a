// The hosts of a plan: from a hosts file (schemas/hosts.json), else this host.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/hosts/launch_settings.h"
#include "runner/hosts/slurm_settings.h"

namespace bench {

struct Host {
  std::string name;
  std::string address;  // address, by default the name
  int slots = 1;        // ranks without oversubscription
  Json devices;         // from the hosts file; null if unknown
  std::map<std::string, std::string> labels;
  std::vector<std::string> cards = {};  // network cards by rail, from the hosts file
  /// Facts from earlier runs (hosts/known_facts.h); not part of a plan.
  std::map<std::string, std::string> facts = {};
  std::string profile = {};  // expected topology: a file in hosts/profiles; "" for none
};

/// Hosts are indices into Inventory::hosts, ascending.
struct HostGroup {
  std::string name;
  std::vector<std::size_t> hosts;
};

struct Inventory {
  std::vector<Host> hosts;
  std::vector<HostGroup> groups = {};  // from the hosts file, by name
  LaunchSettings launch = {};
  SlurmSettings slurm = {};
};

/// Expands host expressions. Throws Error(input) for schema violations, duplicate hosts, and groups
/// with unknown hosts.
Inventory read_inventory(const std::filesystem::path& file);
Inventory inventory_from_json(const Json& json, const std::string& origin);

/// One group per value of a label; hosts without the label are in none.
std::vector<HostGroup> groups_by_label(const Inventory& inventory, const std::string& label);
/// The same for a fact; a host without the fact uses its label of that name.
std::vector<HostGroup> groups_by_fact(const Inventory& inventory, const std::string& fact);
/// All known facts of any host, sorted.
std::vector<std::string> fact_names(const Inventory& inventory);
/// All labels of any host, sorted.
std::vector<std::string> label_names(const Inventory& inventory);

/// This host only; its slots are the CPUs of this process's affinity mask.
Inventory this_host_only();
std::string this_host_name();
/// Whether the entry is this machine.
bool is_this_host(const Host& host);

/// One entry per host; inventory_from_json reads it back unchanged.
Json to_json(const Inventory& inventory);

// Text and JSON of `benchctl list hosts`.

/// One object per host: {name, address, slots, devices, labels, profile, groups}; devices and
/// profile may be null.
Json hosts_list(const Inventory& inventory);

/// A table with one line per host.
std::string hosts_table(const Json& hosts);

}  // namespace bench
