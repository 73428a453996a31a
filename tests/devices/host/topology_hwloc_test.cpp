// Topologies of real machines, as hwloc saved them.
#include "devices/host/topology_hwloc.h"

#include <algorithm>
#include <fstream>

#include "core/error.h"
#include "devices/topology.h"
#include "tests/support/catch.h"
#include "tests/support/saved_machines.h"
#include "tests/support/temporary_directory.h"

#ifdef BENCH_HWLOC
namespace bench {
namespace {

const Cache* find_cache(const MachineTopology& machine, const std::string& name) {
  for (const Cache& cache : machine.caches)
    if (cache.name == name) return &cache;
  return nullptr;
}

long count_kind(const MachineTopology& machine, const std::string& kind) {
  return std::count_if(machine.os_devices.begin(), machine.os_devices.end(),
                       [&](const OsDevice& device) { return device.kind == kind; });
}

TEST_CASE("a saved server of two sockets with GPUs and InfiniBand is described") {
  if (!available("32em64t-2n8c2t-pci-wholeio.xml")) return;
  const MachineTopology machine = read_hwloc(kMachines / "32em64t-2n8c2t-pci-wholeio.xml");
  CHECK_FALSE(machine.this_machine);
  CHECK(machine.packages == 2);
  CHECK(machine.cores == 16);
  CHECK(machine.hardware_threads == 32);
  CHECK(machine.numa_nodes.size() == 2);
  CHECK(machine.numa_nodes[0].hardware_threads == 16);
  const Cache* l3 = find_cache(machine, "l3");
  REQUIRE(l3 != nullptr);
  CHECK(l3->count == 2);
  CHECK(l3->shared_by == 16);
  CHECK(l3->size.value == 20971520);
  const auto gpu =
      std::find_if(machine.pci_devices.begin(), machine.pci_devices.end(),
                   [](const PciDevice& device) { return device.id.starts_with("10de:"); });
  REQUIRE(gpu != machine.pci_devices.end());
  CHECK(gpu->kind == "display");
  CHECK(gpu->numa_nodes.size() == 1);
  CHECK(count_kind(machine, "infiniband") > 0);
  CHECK(count_kind(machine, "network") > 0);
}

TEST_CASE("a saved DGX-2 shows its sixteen GPUs with their links") {
  if (!available("nvidiaDGX2.xml")) return;
  const MachineTopology machine = read_hwloc(kMachines / "nvidiaDGX2.xml");
  std::vector<PciDevice> gpus;
  for (const PciDevice& device : machine.pci_devices)
    if (device.id.starts_with("10de:") && device.kind == "display") gpus.push_back(device);
  REQUIRE(gpus.size() == 16);
  for (const PciDevice& gpu : gpus) {
    REQUIRE(gpu.link_rate);
    CHECK(gpu.link_rate->value > 1e9);
    CHECK(gpu.link_rate->value < 32e9);
  }
}

TEST_CASE("a saved POWER8 machine with sparse numbering is counted, not indexed") {
  if (!available("power8gpudistances.xml")) return;
  const MachineTopology machine = read_hwloc(kMachines / "power8gpudistances.xml");
  CHECK(machine.packages == 2);
  CHECK(machine.numa_nodes.size() >= 2);
  CHECK(machine.memory.value > 0.0);
  for (const PciDevice& device : machine.pci_devices) CHECK(device.address.size() >= 12);
}

TEST_CASE("a saved machine with many virtual functions lists each once") {
  if (!available("16intel64-manyVFs.xml")) return;
  const MachineTopology machine = read_hwloc(kMachines / "16intel64-manyVFs.xml");
  CHECK(machine.hardware_threads == 16);
  std::vector<std::string> addresses;
  for (const PciDevice& device : machine.pci_devices) addresses.push_back(device.address);
  std::sort(addresses.begin(), addresses.end());
  CHECK(std::adjacent_find(addresses.begin(), addresses.end()) == addresses.end());
}

TEST_CASE("an invalid topology file is an error, not another machine") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "broken.xml";
  std::ofstream(path) << "<topology version=\"2.0\"><object type=\"Machine\"";
  CHECK_THROWS_AS(read_hwloc(path), Error);
  CHECK_THROWS_AS(read_hwloc(folder.path() / "absent.xml"), Error);
}

TEST_CASE("this machine has at least one core, one cache and some memory") {
  const MachineTopology machine = read_hwloc();
  CHECK(machine.hardware_threads >= 1);
  CHECK(machine.memory.value > 0.0);
  CHECK(machine.source.starts_with("hwloc 2"));
}

}  // namespace
}  // namespace bench
#endif
