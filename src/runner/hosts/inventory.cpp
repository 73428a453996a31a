#include "runner/hosts/inventory.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <thread>
#include <unordered_map>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"

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
    throw Error(ErrorKind::input, where + ": invalid group name",
                "use one word, for example rack1");
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
  const std::string text = read_file(file);
  if (!trim(text).starts_with('{'))
    throw Error(ErrorKind::input, file.string() + ": not a hosts file (JSON)",
                "make one with `benchctl init --hosts NAMES`, or from an Open MPI hostfile with "
                "`benchctl import hostfile FILE -o hosts.json`");
  return inventory_from_json(parse_json(text, file.string()), file.string());
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

namespace {

constexpr std::size_t kWidest = 40;  // longer words push their line to the right

using Row = std::array<std::string, 5>;

std::string labels_text(const Json& labels) {
  std::vector<std::string> words;
  for (const auto& [label, value] : labels.items())
    words.push_back(printable(label + "=" + value.get<std::string>()));
  return words.empty() ? "-" : join(words, " ");
}

std::string groups_text(const Json& groups) {
  return groups.empty() ? "-" : join(groups.get<std::vector<std::string>>(), " ");
}

Row row_of(const Json& host) {
  return {host["name"], host["address"], std::to_string(host["slots"].get<int>()),
          labels_text(host["labels"]), groups_text(host["groups"])};
}

}  // namespace

Json hosts_list(const Inventory& inventory) {
  Json list = Json::array();
  for (const Host& host : inventory.hosts)
    list.push_back({{"name", host.name},
                    {"address", host.address},
                    {"slots", host.slots},
                    {"devices", host.devices},
                    {"cards", host.cards},
                    {"labels", host.labels},
                    {"profile", host.profile.empty() ? Json() : Json(host.profile)},
                    {"groups", Json::array()}});
  for (const HostGroup& group : inventory.groups)
    for (const std::size_t host : group.hosts) list[host]["groups"].push_back(group.name);
  return list;
}

std::string hosts_table(const Json& hosts) {
  std::vector<Row> rows = {{"name", "address", "slots", "labels", "groups"}};
  for (const Json& host : hosts) rows.push_back(row_of(host));
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min(row[i].size(), kWidest));
  std::string text;
  for (const Row& row : rows)
    text += fmt::format("  {:<{}}  {:<{}}  {:>{}}  {:<{}}  {}\n", row[0], widths[0], row[1],
                        widths[1], row[2], widths[2], row[3], widths[3], row[4]);
  return text;
}

namespace {

/// CPUs in our affinity mask. The mask's size grows until the kernel accepts it: machines may have
/// more CPUs than cpu_set_t holds.
int allowed_cpus() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(cpus)), [](cpu_set_t* p) { CPU_FREE(p); });
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

using Words = std::map<std::string, std::string>;

namespace {

/// One group for each value; a host with none of `sources` is in none, the first that has it
/// counts.
std::vector<HostGroup> groups_by(const Inventory& inventory, const std::string& name,
                                 std::initializer_list<Words Host::*> sources) {
  std::map<std::string, std::vector<std::size_t>> by_value;
  for (std::size_t i = 0; i < inventory.hosts.size(); ++i)
    for (const auto source : sources) {
      const Words& words = inventory.hosts[i].*source;
      const auto found = words.find(name);
      if (found == words.end()) continue;
      by_value[found->second].push_back(i);
      break;
    }
  std::vector<HostGroup> groups;
  for (auto& [value, hosts] : by_value) groups.push_back({value, std::move(hosts)});
  return groups;
}

std::vector<std::string> names_of(const Inventory& inventory, Words Host::*source) {
  std::set<std::string> names;
  for (const Host& host : inventory.hosts)
    for (const auto& [name, value] : host.*source) names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace

std::vector<HostGroup> groups_by_label(const Inventory& inventory, const std::string& label) {
  return groups_by(inventory, label, {&Host::labels});
}

std::vector<HostGroup> groups_by_fact(const Inventory& inventory, const std::string& fact) {
  return groups_by(inventory, fact, {&Host::facts, &Host::labels});
}

std::vector<std::string> label_names(const Inventory& inventory) {
  return names_of(inventory, &Host::labels);
}

std::vector<std::string> fact_names(const Inventory& inventory) {
  return names_of(inventory, &Host::facts);
}

std::string this_host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

Inventory this_host_only() {
  const std::string name = this_host_name();
  return {{{name, name, allowed_cpus(), Json(), {}}}};
}

bool is_this_host(const Host& host) {
  const std::string self = this_host_name();
  for (const std::string& name : {host.name, host.address})
    if (name == self || name == "localhost" || name == "127.0.0.1" || name == "::1") return true;
  return false;
}

}  // namespace bench
