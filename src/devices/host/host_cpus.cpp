#include "devices/host/host_cpus.h"

#include <sched.h>

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/system_files.h"
#include "devices/facts/cpu_facts.h"

namespace bench {
HostCpus HostCpus::allowed() {
  std::vector<int> cores;
  std::vector<int> taken;
  for (int cpu : allowed_cpus()) {
    if (std::ranges::find(taken, cpu) != taken.end()) continue;
    cores.push_back(cpu);
    const auto siblings = SystemFiles().list("sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                             "/topology/thread_siblings_list");
    if (siblings) taken.insert(taken.end(), siblings->begin(), siblings->end());
  }
  return HostCpus(std::move(cores));
}

std::vector<int> HostCpus::first(int threads) const {
  if (threads < 1 || threads > count())
    throw Error(ErrorKind::input,
                std::to_string(threads) + " threads requested, but this rank may use " +
                    std::to_string(count()) + " cores",
                "use 1 to " + std::to_string(count()) + " threads, or 0 for all");
  return {cores_.begin(), cores_.begin() + threads};
}

void pin_to(int cpu) { pin_to(std::vector<int>{cpu}); }

void pin_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw_errno("pin a thread to CPU " + std::to_string(cpus.empty() ? -1 : cpus.front()));
}

}  // namespace bench
