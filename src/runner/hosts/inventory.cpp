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

std::vector<HostGroup> groups_by_label(const Inventory& inventory, const std::string& label) {
  std::map<std::string, std::vector<std::size_t>> by_value;
  for (std::size_t i = 0; i < inventory.hosts.size(); ++i) {
    const auto& labels = inventory.hosts[i].labels;
    if (const auto found = labels.find(label); found != labels.end())
      by_value[found->second].push_back(i);
  }
  std::vector<HostGroup> groups;
  for (auto& [value, hosts] : by_value) groups.push_back({value, std::move(hosts)});
  return groups;
}

std::vector<std::string> label_names(const Inventory& inventory) {
  std::set<std::string> names;
  for (const Host& host : inventory.hosts)
    for (const auto& [name, value] : host.labels) names.insert(name);
  return {names.begin(), names.end()};
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
