#include "probes/data/loader/placement.h"

#include <sched.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "probes/facts/cgroup_limits.h"

namespace bench::data {
namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    throw_errno("ask for this thread's processors");
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace

std::vector<CpuNode> cpu_nodes(const SystemFiles& files) {
  const std::vector<int> allowed = allowed_cpus();
  std::vector<CpuNode> nodes;
  for (const int id : files.list("sys/devices/system/node/online").value_or(std::vector<int>{})) {
    CpuNode node{id};
    const std::string path = "sys/devices/system/node/node" + std::to_string(id) + "/cpulist";
    for (const int cpu : files.list(path).value_or(std::vector<int>{}))
      if (std::ranges::find(allowed, cpu) != allowed.end()) node.cpus.push_back(cpu);
    if (!node.cpus.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) nodes.push_back({0, allowed});
  return nodes;
}

void run_on(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0)
    throw_errno("bind a thread to its processors");
}

double usable_cores() {
  const auto cores = static_cast<double>(allowed_cpus().size());
  return std::min(cores, read_cgroup_limits(SystemFiles()).cpu_cores.value_or(cores));
}

}  // namespace bench::data
