// bench-rank: one process a rank. It is started by benchctl through a launcher, reads jobs from
// stdin and answers on stdout; docs/architecture.md shows the conversation.
#include "devices/device.h"
#include "devices/facts/host_facts.h"
#include "devices/facts/machine_facts.h"
#include "devices/facts/memory_modules.h"
#include "devices/host/gemm_backends.h"
#include "devices/host/host_device.h"
#include "devices/host/topology_hwloc.h"
#include "devices/part_of_host.h"
#include "devices/topology.h"
#include "probes/server/join_group.h"
#include "probes/server/rank_program.h"
#include "training/host/host_kernels.h"

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

std::unique_ptr<Topology> make_host_topology() {
  return hwloc_is_built() ? std::make_unique<HostTopology>() : nullptr;
}

Json saved_topology(const std::filesystem::path& xml) {
  const MachineTopology machine = read_hwloc(xml);
  MemoryModules modules;
  modules.unreadable = "not in a saved topology";
  return topology_facts(machine, {}, modules, saved_machine_facts(machine));
}

std::unique_ptr<Device> make_device() {
  return make_host_device(make_host_training_kernels, make_host_topology);
}

/// Not needed by ranks with a GPU: NCCL has its own variables, and their MPI only does the setup.
std::unique_ptr<Group> join_on_own_card(GroupKind kind) {
  keep_mpi_to_own_card();
  return join_group(kind);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_rank_program({.name = "bench-rank",
                                  .join_group = bench::join_on_own_card,
                                  .before_serving = bench::restart_with_right_openblas,
                                  .make_device = bench::make_device,
                                  .libraries = bench::host_library_versions,
                                  .saved_topology = bench::saved_topology},
                                 argc, argv);
}
