#include "probes/backends/host/binding_hwloc.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>

#ifdef BENCH_HWLOC
#include <hwloc.h>
#endif

namespace bench {
#ifdef BENCH_HWLOC
namespace {

using HwlocTopology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// Without devices, which are not needed here and take longest; only what the cgroup allows.
HwlocTopology load() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) < 0) return {nullptr, hwloc_topology_destroy};
  HwlocTopology owner(topology, hwloc_topology_destroy);
  if (hwloc_topology_load(topology) < 0) owner.reset();
  return owner;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  for (int one = hwloc_bitmap_first(set); one >= 0; one = hwloc_bitmap_next(set, one))
    numbers.push_back(one);
  return numbers;
}

std::string refused(const char* what) {
  return fmt::format("cannot bind {}: {}", what, std::strerror(errno));
}

void bind_threads(hwloc_topology_t topology, hwloc_obj_t node, NodeBinding& binding) {
  if (hwloc_bitmap_iszero(node->cpuset) != 0) {
    binding.obstacle = "no CPU of the node may be used";
    return;
  }
  if (hwloc_set_cpubind(topology, node->cpuset, HWLOC_CPUBIND_PROCESS) < 0)
    binding.obstacle = refused("threads");
  else
    binding.cpus = members(node->cpuset);
}

/// Not strictly: a node that is full must not end the job.
void bind_memory(hwloc_topology_t topology, hwloc_obj_t node, NodeBinding& binding) {
  binding.memory =
      hwloc_set_membind(topology, node->nodeset, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET) == 0;
  if (!binding.memory && binding.obstacle.empty()) binding.obstacle = refused("memory");
}

}  // namespace

NodeBinding bind_to_node(int node) {
  NodeBinding binding;
  const HwlocTopology topology = load();
  const hwloc_obj_t object =
      topology && node >= 0
          ? hwloc_get_numanode_obj_by_os_index(topology.get(), static_cast<unsigned>(node))
          : nullptr;
  if (object == nullptr) {
    binding.obstacle = fmt::format("NUMA node {} does not exist or may not be used", node);
    return binding;
  }
  bind_threads(topology.get(), object, binding);
  bind_memory(topology.get(), object, binding);
  return binding;
}

#else

NodeBinding bind_to_node(int) { return {{}, false, "built without hwloc"}; }

#endif

}  // namespace bench
