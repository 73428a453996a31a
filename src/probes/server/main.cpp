// bench-rank: one process a rank. It is started by benchctl through a launcher, reads jobs from
// stdin and answers on stdout; docs/architecture.md shows the conversation.
#include "devices/device.h"
#include "devices/facts/machine_facts.h"
#include "devices/host/host_device.h"
#include "devices/host/topology_hwloc.h"
#include "devices/part_of_host.h"
#include "probes/server/host_topology.h"
#include "probes/server/join_group.h"
#include "probes/server/rank_program.h"
#include "training/host/training_kernels.h"

namespace {

bench::Json saved_topology(const std::filesystem::path& xml) {
  const bench::MachineTopology machine = bench::read_hwloc(xml);
  bench::MemoryModules modules;
  modules.unreadable = "not in a saved topology";
  return bench::topology_facts(machine, {}, modules, bench::saved_machine_facts(machine));
}

std::unique_ptr<bench::Device> make_device() {
  return bench::make_host_device(bench::make_host_training_kernels, bench::make_host_topology);
}

/// A GPU's rank goes without: NCCL has variables of its own, and its MPI only sets things up.
std::unique_ptr<bench::Group> join_on_own_card(bench::GroupKind kind) {
  bench::keep_mpi_to_own_card();
  return bench::join_group(kind);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_rank_program({.name = "bench-rank",
                                  .join_group = join_on_own_card,
                                  .make_device = make_device,
                                  .libraries = bench::host_library_versions,
                                  .saved_topology = saved_topology},
                                 argc, argv);
}
