#include "probes/data/loader/placement.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "core/error.h"
#include "devices/facts/cgroup_limits.h"
#include "devices/facts/cpu_facts.h"

namespace bench::data {
namespace {

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return set;
}

/// A thread requests all of them; the kernel removes those that a control group forbids, and
/// refuses if none is left.
std::vector<int> granted(const std::vector<int>& cpus) {
  std::vector<int> found;
  std::thread([&] {
    const cpu_set_t set = set_of(cpus);
    if (::sched_setaffinity(0, sizeof(set), &set) == 0) found = allowed_cpus();
  }).join();
  return found;
}

}  // namespace

std::vector<CpuNode> cpu_nodes(const SystemFiles& files) {
  std::vector<CpuNode> nodes;
  for (const int id : files.list("sys/devices/system/node/online").value_or(std::vector<int>{})) {
    CpuNode node{id};
    const std::string path = "sys/devices/system/node/node" + std::to_string(id) + "/cpulist";
    node.cpus = granted(files.list(path).value_or(std::vector<int>{}));
    if (!node.cpus.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) nodes.push_back({0, allowed_cpus()});
  return nodes;
}

void run_on(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  const cpu_set_t set = set_of(cpus);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) throw_errno("bind a thread to its CPUs");
}

void touch_where_it_runs() {
  constexpr int kDefault = 0;  // MPOL_DEFAULT, without a dependency on libnuma
  // A kernel without policies places pages where they are touched in any case.
  ::syscall(SYS_set_mempolicy, kDefault, nullptr, 0);
}

double usable_cores() {
  const auto cores = static_cast<double>(allowed_cpus().size());
  return std::min(cores, read_cgroup_limits(SystemFiles()).cpu_cores.value_or(cores));
}

}  // namespace bench::data
