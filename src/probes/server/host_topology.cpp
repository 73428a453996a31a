#include "probes/server/host_topology.h"


#include "devices/facts/host_facts.h"
#include "devices/facts/machine_facts.h"
#include "devices/facts/memory_modules.h"
#include "devices/host/topology_hwloc.h"
#include "devices/topology.h"

namespace bench {
namespace {

std::optional<double> number(const Json& facts, const char* key) {
  const Json& value = facts.at(key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

class HostTopology final : public Topology {
 public:
  MachineTopology machine() override { return read_hwloc(); }

  KernelTopology kernel() override {
    const Json facts = read_host_facts();
    KernelTopology kernel;
    if (const auto cores = number(facts, "cores")) kernel.cores = static_cast<int>(*cores);
    if (const auto threads = number(facts, "hardware_threads"))
      kernel.hardware_threads = static_cast<int>(*threads);
    if (const auto memory = number(facts, "memory_bytes")) kernel.memory = Bytes{*memory};
    if (const auto memory = number(facts, "memory_of_nodes_bytes"))
      kernel.memory_of_nodes = Bytes{*memory};
    return kernel;
  }

  MemoryModules memory_modules() override { return read_memory_modules(SystemFiles()); }

  Json details(const MachineTopology& machine) override {
    return read_machine_facts(SystemFiles(), read_host_facts(), machine);
  }
};

}  // namespace

std::unique_ptr<Topology> make_host_topology() {
  return hwloc_is_built() ? std::make_unique<HostTopology>() : nullptr;
}

}  // namespace bench
