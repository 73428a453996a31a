#include <algorithm>
#include <unordered_map>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"
#include "runner/hosts/inventory.h"

namespace bench {
namespace {

constexpr std::string_view kNamePlace = "{name}";

using Places = std::unordered_map<std::string, std::size_t>;

std::vector<std::string> expand(const Json& expression, std::size_t at_most,
                                const std::string& where) {
  try {
    return expand_hostlist(expression.get_ref<const std::string&>(), at_most);
  } catch (const Error& error) {
    throw Error(error.kind(), where + ": " + error.what(), error.hint());
  }
}

std::string address_of(const std::string& name, std::string address, const std::string& where) {
  for (std::size_t at = 0; (at = address.find(kNamePlace, at)) != std::string::npos;
       at += name.size())
    address.replace(at, kNamePlace.size(), name);
  if (address.size() > kMaxHostName)
    throw Error(ErrorKind::input,
                where + "/address: more than " + std::to_string(kMaxHostName) +
                    " characters for host '" + name + "'",
                "use a host name or an IP address");
  return address;
}

Host entry_defaults(const Json& json) {
  Host host;
  host.slots = json.at("slots");
  host.devices = json.value("devices", Json());
  host.labels = json.value("labels", host.labels);
  host.cards = json.value("cards", host.cards);
  host.profile = json.value("profile", "");
  return host;
}

void add_hosts(const Json& json, const std::string& where, Inventory& inventory, Places& places) {
  const std::string address = json.value("address", std::string(kNamePlace));
  Host host = entry_defaults(json);
  for (std::string& name :
       expand(json.at("name"), kMaxHosts - inventory.hosts.size(), where + "/name")) {
    if (!places.emplace(name, inventory.hosts.size()).second)
      throw Error(ErrorKind::input, where + "/name: host '" + name + "' is listed twice",
                  "keep one of them");
    host.address = address_of(name, address, where);
    host.name = std::move(name);
    inventory.hosts.push_back(host);
  }
}

std::size_t place_of(const std::string& name, const Inventory& inventory, const Places& places,
                     const std::string& where) {
  if (const auto found = places.find(name); found != places.end()) return found->second;
  std::vector<std::string> known;
  for (const Host& host : inventory.hosts) known.push_back(host.name);
  throw Error(ErrorKind::input,
              where + ": unknown host '" + name + "'." + did_you_mean(name, known),
              "a group may only list hosts of the same file");
}

HostGroup read_group(const std::string& name, const Json& expression, const std::string& origin,
                     const Inventory& inventory, const Places& places) {
  const std::string where = origin + ": /groups/" + printable(name);
  HostGroup group{name, {}};
  // The name of a group is one word, as that of a host.
  if (expand(name, 1, where) != std::vector{name})
    throw Error(ErrorKind::input, where + ": invalid group name", "use one word, for example rack1");
  for (const std::string& host : expand(expression, kMaxHosts, where))
    group.hosts.push_back(place_of(host, inventory, places, where));
  std::ranges::sort(group.hosts);
  if (const auto twice = std::ranges::adjacent_find(group.hosts); twice != group.hosts.end())
    throw Error(ErrorKind::input,
                where + ": host '" + inventory.hosts[*twice].name + "' is listed twice",
                "keep one of them");
  return group;
}

Json host_json(const Host& host) {
  Json json = {{"name", host.name},
               {"address", host.address},
               {"slots", host.slots},
               {"labels", host.labels}};
  if (!host.devices.is_null()) json["devices"] = host.devices;
  if (!host.cards.empty()) json["cards"] = host.cards;
  if (!host.profile.empty()) json["profile"] = host.profile;
  return json;
}

std::string expression_of(const HostGroup& group, const Inventory& inventory) {
  std::vector<std::string> names;
  for (const std::size_t host : group.hosts) names.push_back(inventory.hosts[host].name);
  return compact_hostlist(names);
}

}  // namespace

Inventory inventory_from_json(const Json& json, const std::string& origin) {
  const Json checked = Schema::load(schema_path("hosts")).check(json, origin);
  Inventory inventory;
  Places places;
  for (std::size_t i = 0; i < checked.at("hosts").size(); ++i)
    add_hosts(checked["hosts"][i], origin + ": /hosts/" + std::to_string(i), inventory, places);
  for (const auto& [name, expression] : checked.at("groups").items())
    inventory.groups.push_back(read_group(name, expression, origin, inventory, places));
  inventory.launch = launch_settings_from_json(checked.at("mpirun"), origin + ": /mpirun");
  inventory.slurm = slurm_settings_from_json(checked.at("slurm"), origin + ": /slurm");
  return inventory;
}

Inventory read_inventory(const std::filesystem::path& file) {
  return inventory_from_json(read_json(file), file.string());
}

Json to_json(const Inventory& inventory) {
  Json hosts = Json::array();
  for (const Host& host : inventory.hosts) hosts.push_back(host_json(host));
  Json groups = Json::object();
  for (const HostGroup& group : inventory.groups)
    groups[group.name] = expression_of(group, inventory);
  return {{"hosts", hosts},
          {"groups", groups},
          {"mpirun", to_json(inventory.launch)},
          {"slurm", to_json(inventory.slurm)}};
}

}  // namespace bench
