// The hosts a plan may use: from a hosts file (schemas/hosts.json), else this host alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/launch/launch_settings.h"
#include "runner/launch/slurm_settings.h"

namespace bench {

struct Host {
  std::string name;
  std::string address;  // how to reach it; the name when the file gives none
  int slots = 1;        // ranks it takes without oversubscription
  Json devices;         // as the file states them; null where unknown
  std::map<std::string, std::string> labels;
  std::vector<std::string> cards = {};  // network cards, rail by rail, as the file states them
  /// What earlier runs found out about it (hosts/known_facts.h), or nothing. No part of a plan.
  std::map<std::string, std::string> facts = {};
  std::string profile = {};  // what it should look like: a file in hosts/profiles; "" for none
};

/// Hosts are places in Inventory::hosts, ascending.
struct HostGroup {
  std::string name;
  std::vector<std::size_t> hosts;
};

struct Inventory {
  std::vector<Host> hosts;
  std::vector<HostGroup> groups = {};  // as the file states them, by name
  LaunchSettings launch = {};
  SlurmSettings slurm = {};
};

/// Expressions are counted out: one Host a name. Throws Error(input) for what the schema refuses, a
/// host that is listed twice, a group of an unknown host.
Inventory read_inventory(const std::filesystem::path& file);
Inventory inventory_from_json(const Json& json, const std::string& origin);

/// One group for each value of a label, by value; hosts without it are in none.
std::vector<HostGroup> groups_by_label(const Inventory& inventory, const std::string& label);
/// The same for a fact; a host of which it is not known is taken by its label of that name.
std::vector<HostGroup> groups_by_fact(const Inventory& inventory, const std::string& fact);
/// Every fact that is known of any host, sorted.
std::vector<std::string> fact_names(const Inventory& inventory);
/// Every label that any host has, sorted.
std::vector<std::string> label_names(const Inventory& inventory);

/// This host alone; its slots are the CPUs this process may run on.
Inventory this_host_only();
std::string this_host_name();
/// Does the entry mean the machine we run on?
bool is_this_host(const Host& host);

/// One entry a host; inventory_from_json reads it back as it was.
Json to_json(const Inventory& inventory);

}  // namespace bench
