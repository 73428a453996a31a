#include "runner/inventory.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>
#include <thread>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"

namespace bench {
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

Host host_from_json(const Json& json) {
  Host host;
  host.name = json.at("name");
  host.address = json.value("address", host.name);
  host.slots = json.at("slots");
  host.devices = json.value("devices", Json());
  host.labels = json.value("labels", host.labels);
  return host;
}

}  // namespace

Inventory inventory_from_json(const Json& json, const std::string& origin) {
  const Json checked = Schema::load(schema_path("hosts")).check(json, origin);
  Inventory inventory;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < checked.at("hosts").size(); ++i) {
    const Host host = host_from_json(checked["hosts"][i]);
    if (!seen.insert(host.name).second)
      throw Error(ErrorKind::input,
                  origin + ": /hosts/" + std::to_string(i) + "/name: the host '" + host.name +
                      "' is listed twice",
                  "keep one of them");
    inventory.hosts.push_back(host);
  }
  return inventory;
}

Inventory read_inventory(const std::filesystem::path& file) {
  return inventory_from_json(read_json(file), file.string());
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

Json to_json(const Inventory& inventory) {
  Json hosts = Json::array();
  for (const Host& host : inventory.hosts)
    hosts.push_back({{"name", host.name},
                     {"address", host.address},
                     {"slots", host.slots},
                     {"devices", host.devices},
                     {"labels", host.labels}});
  return {{"hosts", hosts}};
}

}  // namespace bench
