// Describes the machine by the topology library and by the kernel. The two must agree, or it is
// unknown what was measured.
#include "devices/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/text.h"
#include "probes/probe.h"
#include "probes/state.h"

namespace bench {
namespace {

// The kernel excludes some memory from a node's total; a larger difference means another machine.
constexpr double kMemoryTolerance = 0.02;

/// Nothing if the kernel's value cannot be read.
std::optional<Check> compare(int library, std::optional<int> kernel) {
  if (!kernel) return {};
  return Check{fmt::format("hwloc {} vs. kernel {}", library, *kernel),
               static_cast<double>(std::abs(library - *kernel)), 0.0};
}

/// The kernel's own two values differ while memory is initialised on first use; the library, which
/// is queried after the kernel, must lie between them.
std::optional<Check> compare_memory(Bytes library, const KernelTopology& kernel) {
  if (!kernel.memory) return {};
  const double total = kernel.memory->value;
  const double nodes = kernel.memory_of_nodes.value_or(*kernel.memory).value;
  const double inside = std::clamp(library.value, std::min(nodes, total), std::max(nodes, total));
  return Check{fmt::format("hwloc {} vs. kernel {} in total and {} in its nodes", format(library),
                           format(Bytes{total}), format(Bytes{nodes})),
               std::abs(library.value - inside) / total, kMemoryTolerance};
}

void report_memory(State& state, const MachineTopology& machine, const KernelTopology& kernel) {
  state.value("memory", machine.memory.value, {{"by", "library"}}, {},
              compare_memory(machine.memory, kernel));
  if (kernel.memory)
    state.value("memory", kernel.memory->value, {{"by", "kernel"}});
  else
    state.skip_series("memory", {{"by", "kernel"}}, "the kernel's /proc/meminfo is unreadable");
}

void report_counts(State& state, const MachineTopology& machine, const KernelTopology& kernel) {
  state.value("packages", machine.packages);
  state.value("cores", machine.cores, Json::object(), {}, compare(machine.cores, kernel.cores));
  state.value("hardware_threads", machine.hardware_threads, Json::object(), {},
              compare(machine.hardware_threads, kernel.hardware_threads));
  state.value("numa_nodes", static_cast<double>(machine.numa_nodes.size()));
}

/// The size of one cache of each level; of the first kind if there are several.
void report_caches(State& state, const MachineTopology& machine) {
  for (const char* name : {"l1d", "l2", "l3"}) {
    const auto cache = std::find_if(machine.caches.begin(), machine.caches.end(),
                                    [&](const Cache& one) { return one.name == name; });
    if (cache != machine.caches.end())
      state.value(name, cache->size.value);
    else
      state.skip_series(name, Json::object(), "hwloc reports no such cache");
  }
}

/// The peak bandwidth of all memory channels; modules on one channel share its rate.
Bytes total_rate_per_second(const std::vector<MemoryModule>& modules) {
  std::map<std::string, double> channels;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const MemoryModule& module = modules[i];
    const std::string channel =
        module.channel.empty() ? "module " + std::to_string(i) : module.channel;
    channels[channel] =
        std::max(channels[channel], module.transfers_per_second * module.width.value);
  }
  Bytes total;
  for (const auto& [channel, rate] : channels) total += Bytes{rate};
  return total;
}

void report_memory_modules(State& state, const MemoryModules& modules) {
  const double rate = total_rate_per_second(modules.populated).value;
  if (!modules.unreadable.empty())
    state.skip_series("dram_bandwidth_limit", Json::object(), modules.unreadable);
  else if (!(rate > 0.0))
    state.skip_series("dram_bandwidth_limit", Json::object(),
                      "the firmware tables do not report the memory speed");
  else
    state.value("dram_bandwidth_limit", rate);
}

void run_topology(State& state) {
  Topology* topology = state.device().topology();
  if (topology == nullptr) return state.skip("built without hwloc");
  // The kernel first: while memory is being initialised, its value only grows.
  const KernelTopology kernel = topology->kernel();
  const MachineTopology machine = topology->machine();
  if (!machine.this_machine)
    return state.invalid(machine.source +
                         " describes another machine (HWLOC_XMLFILE or HWLOC_SYNTHETIC "
                         "is set in the environment)");
  const MemoryModules modules = topology->memory_modules();
  state.facts("topology", topology_facts(machine, kernel, modules, topology->details(machine)));
  report_counts(state, machine, kernel);
  report_memory(state, machine, kernel);
  report_caches(state, machine);
  report_memory_modules(state, modules);
}

const Registration topology_probe{"topology", run_topology};

}  // namespace
}  // namespace bench
