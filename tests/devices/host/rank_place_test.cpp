// Where a rank that drives a GPU is put, on made-up machines, saved ones and this one.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "devices/facts/cpu_facts.h"
#include "devices/facts/nearness.h"
#include "devices/host/host_cpus.h"
#include "devices/host/topology_hwloc.h"
#include "tests/support/catch.h"
#include "tests/support/saved_machines.h"

namespace bench {
namespace {

MachineTopology machine_with_gpu(std::vector<int> nodes) {
  PciDevice gpu;
  gpu.address = "0000:05:00.0";
  gpu.kind = "display";
  gpu.id = "10de:2330";
  gpu.numa_nodes = std::move(nodes);
  gpu.bridges = {"0000:04:01.0", "0000:00"};
  PciDevice card = gpu;
  card.address = "0000:06:00.0";
  card.kind = "network";
  card.id = "15b3:1021";
  MachineTopology machine;
  machine.pci_devices = {gpu, card};
  machine.os_devices = {{"mlx5_0", "infiniband", "0000:06:00.0"}};
  return machine;
}

TEST_CASE("a rank belongs to the node of its GPU and gets the NICs next to it") {
  const RankPlace place = place_rank(machine_with_gpu({1}), "0000:05:00.0");
  CHECK(place.node == 1);
  CHECK(place.unknown.empty());
  CHECK(to_json(place) == Json{{"gpu", "0000:05:00.0"},
                               {"numa_node", 1},
                               {"nearest_network",
                                {{{"pci_address", "0000:06:00.0"},
                                  {"names", {"mlx5_0"}},
                                  {"same_node", true},
                                  {"shared_bridges", 2}}}},
                               {"reason", nullptr}});
}

TEST_CASE("a GPU with an unknown node binds nothing and gives the reason") {
  const RankPlace both = place_rank(machine_with_gpu({0, 1}), "0000:05:00.0");
  CHECK_FALSE(both.node);
  CHECK(both.unknown == "the GPU is equally close to 2 NUMA nodes");
  CHECK(to_json(both).at("numa_node").is_null());
  CHECK(place_rank(machine_with_gpu({}), "0000:05:00.0").unknown.find("firmware") !=
        std::string::npos);
  CHECK(place_rank(machine_with_gpu({0}), "0000:99:00.0").unknown ==
        "the topology has no such GPU");
}

#ifdef BENCH_HWLOC
TEST_CASE("in a saved DGX-2 each of sixteen ranks has a node, eight on each") {
  if (!available("nvidiaDGX2.xml")) return;
  const MachineTopology machine = read_hwloc(kMachines / "nvidiaDGX2.xml");
  std::map<int, int> ranks_on;
  for (const GpuPlace& gpu : place_gpus(machine)) {
    const RankPlace place = place_rank(machine, gpu.address);
    REQUIRE(place.node);
    ++ranks_on[*place.node];
  }
  CHECK(ranks_on == std::map<int, int>{{0, 8}, {1, 8}});
}

/// Gives the test program its processors and its memory policy back.
class BindingRestored {
 public:
  BindingRestored() : cpus_(allowed_cpus()) {}
  ~BindingRestored() {
    pin_to(cpus_);
    constexpr int kDefaultPolicy = 0;
    syscall(SYS_set_mempolicy, kDefaultPolicy, nullptr, 0);
  }

 private:
  std::vector<int> cpus_;
};

TEST_CASE("a process that was pinned to one core is brought to the whole node, new threads too") {
  const BindingRestored restored;
  const int node = read_hwloc().numa_nodes.front().index;
  pin_to(allowed_cpus().front());
  const NodeBinding binding = bind_to_node(node);
  INFO(binding.obstacle);
  REQUIRE_FALSE(binding.cpus.empty());
  CHECK(allowed_cpus() == binding.cpus);
  std::vector<int> of_new_thread;
  std::thread([&] { of_new_thread = allowed_cpus(); }).join();
  CHECK(of_new_thread == binding.cpus);
  CHECK(binding.memory == binding.obstacle.empty());
}

TEST_CASE("a node that does not exist is bound to by nothing") {
  const std::vector<int> before = allowed_cpus();
  for (const int node : {-1, 4711}) {
    const NodeBinding binding = bind_to_node(node);
    CHECK(binding.cpus.empty());
    CHECK_FALSE(binding.memory);
    CHECK(binding.obstacle.find("does not exist or may not be used") != std::string::npos);
  }
  CHECK(allowed_cpus() == before);
}
#endif

}  // namespace
}  // namespace bench
