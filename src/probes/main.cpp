// bench-rank: one process a rank. It is started by benchctl through a launcher, reads jobs from
// stdin and answers on stdout; docs/architecture.md shows the conversation.
#include "probes/backends/host/topology_hwloc.h"
#include "probes/facts/machine_facts.h"
#include "probes/libraries.h"
#include "probes/rank_program.h"

namespace {

bench::Json saved_topology(const std::filesystem::path& xml) {
  const bench::MachineTopology machine = bench::read_hwloc(xml);
  bench::MemoryModules modules;
  modules.unreadable = "not in a saved topology";
  return bench::topology_facts(machine, {}, modules, bench::saved_machine_facts(machine));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_rank_program({.name = "bench-rank",
                                  .join_group = bench::join_group,
                                  .make_device = bench::make_host_device,
                                  .libraries = bench::host_library_versions,
                                  .saved_topology = saved_topology},
                                 argc, argv);
}
