// What the machine is made of, told twice: by the topology library and by the kernel. The two must
// agree, or nobody knows what was measured.
#include "probes/device/topology.h"

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

// The kernel keeps some memory out of a node's total; more than this is another machine.
constexpr double kMemoryTolerance = 0.02;

Json describe(const PciDevice& device) {
  return {{"address", device.address},
          {"kind", device.kind},
          {"id", device.id},
          {"name", device.name},
          {"link_bytes_per_s", device.link_rate ? Json(device.link_rate->value) : Json(nullptr)},
          {"numa_nodes", device.numa_nodes}};
}

Json describe(const OsDevice& device) {
  return {{"name", device.name}, {"kind", device.kind}, {"pci_address", device.pci_address}};
}

Json describe(const NumaNode& node) {
  return {{"index", node.index},
          {"memory_bytes", node.memory.value},
          {"hardware_threads", node.hardware_threads}};
}

Json describe(const Cache& cache) {
  return {{"name", cache.name},
          {"size_bytes", cache.size.value},
          {"line_bytes", cache.line.value},
          {"count", cache.count},
          {"shared_by", cache.shared_by}};
}

Json describe(const MemoryModule& module) {
  return {{"slot", module.slot},
          {"channel", module.channel},
          {"type", module.type},
          {"size_bytes", module.size.value},
          {"transfers_per_s", module.transfers_per_second},
          {"width_bytes", module.width.value}};
}

template <class Part>
Json describe(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) list.push_back(describe(part));
  return list;
}

Json or_null(std::optional<Bytes> size) { return size ? Json(size->value) : Json(nullptr); }

Json describe(const MachineTopology& machine, const KernelTopology& kernel,
              const MemoryModules& modules) {
  Json facts = {{"topology_source", machine.source},
                {"memory_by_library_bytes", machine.memory.value},
                {"memory_by_kernel_bytes", or_null(kernel.memory)},
                {"memory_of_kernel_nodes_bytes", or_null(kernel.memory_of_nodes)},
                {"numa", describe(machine.numa_nodes)},
                {"caches", describe(machine.caches)},
                {"pci_devices", describe(machine.pci_devices)},
                {"os_devices", describe(machine.os_devices)},
                {"memory_modules", describe(modules.populated)}};
  if (!modules.unreadable.empty()) facts["memory_modules"] = "unreadable: " + modules.unreadable;
  return facts;
}

/// Nothing to compare with where the kernel's figure cannot be read.
std::optional<Check> compare(int library, std::optional<int> kernel) {
  if (!kernel) return {};
  return Check{fmt::format("the library's {} against the kernel's {}", library, *kernel),
               static_cast<double>(std::abs(library - *kernel)), 0.0};
}

/// The kernel's own two figures differ where memory is set up on first use; the library, which was
/// asked after the kernel, must lie between them.
std::optional<Check> compare_memory(Bytes library, const KernelTopology& kernel) {
  if (!kernel.memory) return {};
  const double total = kernel.memory->value;
  const double nodes = kernel.memory_of_nodes.value_or(*kernel.memory).value;
  const double inside = std::clamp(library.value, std::min(nodes, total), std::max(nodes, total));
  return Check{fmt::format("the library's {} against the kernel's {} in all and {} in its nodes",
                           format(library), format(Bytes{total}), format(Bytes{nodes})),
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

/// The size of one cache of each level; the first kind where there are several.
void report_caches(State& state, const MachineTopology& machine) {
  for (const char* name : {"l1d", "l2", "l3"}) {
    const auto cache = std::find_if(machine.caches.begin(), machine.caches.end(),
                                    [&](const Cache& one) { return one.name == name; });
    if (cache != machine.caches.end())
      state.value(name, cache->size.value);
    else
      state.skip_series(name, Json::object(), "the topology library names no such cache");
  }
}

/// What the memory channels could carry at most: modules on one channel share its rate.
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
                      "the firmware's table does not say how fast the memory modules run");
  else
    state.value("dram_bandwidth_limit", rate);
}

void run_topology(State& state) {
  Topology* topology = state.device().topology();
  if (topology == nullptr) return state.skip("this build has no topology library (hwloc)");
  // The kernel first: where memory is still being set up, its figure only grows.
  const KernelTopology kernel = topology->kernel();
  const MachineTopology machine = topology->machine();
  if (!machine.this_machine)
    return state.invalid(machine.source +
                         " was told to describe another machine (HWLOC_XMLFILE or HWLOC_SYNTHETIC "
                         "is set in the environment)");
  const MemoryModules modules = topology->memory_modules();
  state.facts("topology", describe(machine, kernel, modules));
  report_counts(state, machine, kernel);
  report_memory(state, machine, kernel);
  report_caches(state, machine);
  report_memory_modules(state, modules);
}

const Registration registration{{
    .name = "topology",
    .summary = "says what the machine is made of, and whether hwloc and the kernel agree on it",
    .metrics = {{"packages", Unit::count, Better::none},
                {"cores", Unit::count, Better::none},
                {"hardware_threads", Unit::count, Better::none},
                {"numa_nodes", Unit::count, Better::none},
                {"memory", Unit::byte, Better::none},
                {"l1d", Unit::byte, Better::none},
                {"l2", Unit::byte, Better::none},
                {"l3", Unit::byte, Better::none},
                {"dram_bandwidth_limit", Unit::byte_per_second, Better::none}},
    .run = run_topology,
}};

}  // namespace
}  // namespace bench
