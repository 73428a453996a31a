// The hosts a plan may use: from a hosts file (schemas/hosts.json), else this host alone.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

struct Host {
  std::string name;
  std::string address;  // how to reach it; the name when the file gives none
  int slots = 1;        // ranks it takes without oversubscription
  Json devices;         // as the file states them; null where unknown
  std::map<std::string, std::string> labels;
};

struct Inventory {
  std::vector<Host> hosts;
};

/// Throws Error(input) for what the schema refuses, a host that is listed twice included.
Inventory read_inventory(const std::filesystem::path& file);
Inventory inventory_from_json(const Json& json, const std::string& origin);

/// This host alone; its slots are the CPUs this process may run on.
Inventory this_host_only();
std::string this_host_name();
/// Does the entry mean the machine we run on?
bool is_this_host(const Host& host);

Json to_json(const Inventory& inventory);

}  // namespace bench
