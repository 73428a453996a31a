#include "runner/hosts/inventory.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <thread>

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
