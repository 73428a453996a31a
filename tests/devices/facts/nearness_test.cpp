#include "devices/facts/nearness.h"

#include "devices/host/topology_hwloc.h"
#include "tests/support/catch.h"
#include "tests/support/saved_machines.h"

namespace bench {
namespace {

PciDevice device(const std::string& address, const std::string& kind, const std::string& id,
                 std::vector<int> nodes, std::vector<std::string> bridges) {
  PciDevice made;
  made.address = address;
  made.kind = kind;
  made.id = id;
  made.numa_nodes = std::move(nodes);
  made.bridges = std::move(bridges);
  return made;
}

/// Two sockets. On the first a switch with a GPU and a card, and a card alongside it; on the second
/// a GPU and two cards, each on a root port of its own.
MachineTopology machine() {
  MachineTopology made;
  made.pci_devices = {
      device("0000:b0:00.0", "display", "10de:2330", {1}, {"0000:a0:01.0", "0000:a0"}),
      device("0000:05:00.0", "display", "10de:2330", {0},
             {"0000:04:01.0", "0000:00:01.0", "0000:00"}),
      device("0000:06:00.0", "network", "15b3:1021", {0},
             {"0000:04:02.0", "0000:00:01.0", "0000:00"}),
      device("0000:07:00.0", "network", "8086:1592", {0}, {"0000:00:02.0", "0000:00"}),
      device("0000:b1:00.0", "network", "15b3:1021", {1}, {"0000:a0:02.0", "0000:a0"}),
      device("0000:b2:00.0", "network", "15b3:1021", {1}, {"0000:a0:03.0", "0000:a0"}),
      device("0000:09:00.0", "display", "1a03:2000", {0}, {"0000:00"}),
  };
  made.os_devices = {{"mlx5_0", "infiniband", "0000:06:00.0"},
                     {"ib0", "network", "0000:06:00.0"},
                     {"sda", "block", "0000:06:00.0"},
                     {"eth0", "network", "0000:07:00.0"}};
  return made;
}

TEST_CASE("the card under the same switch is the nearest to a GPU") {
  const auto places = place_gpus(machine());
  REQUIRE(places.size() == 2);  // the management processor's display is no GPU
  CHECK(places[0].address == "0000:05:00.0");
  CHECK(places[0].numa_nodes == std::vector<int>{0});
  REQUIRE(places[0].nearest.size() == 1);
  CHECK(places[0].nearest[0].address == "0000:06:00.0");
  CHECK(places[0].nearest[0].names == std::vector<std::string>{"mlx5_0", "ib0"});
  CHECK(places[0].nearest[0].same_node);
  CHECK(places[0].nearest[0].shared_bridges == 2);
}

TEST_CASE("cards that are equally near are all named") {
  const auto places = place_gpus(machine());
  REQUIRE(places[1].nearest.size() == 2);
  CHECK(places[1].nearest[0].address == "0000:b1:00.0");
  CHECK(places[1].nearest[1].address == "0000:b2:00.0");
  CHECK(places[1].nearest[0].shared_bridges == 1);
}

TEST_CASE("a GPU without a NIC on its socket gets one of the other socket, marked as such") {
  MachineTopology two = machine();
  std::erase_if(two.pci_devices, [](const PciDevice& one) {
    return one.address.starts_with("0000:b1") || one.address.starts_with("0000:b2");
  });
  const auto places = place_gpus(two);
  REQUIRE(places[1].nearest.size() == 2);
  CHECK_FALSE(places[1].nearest[0].same_node);
  CHECK(places[1].nearest[0].shared_bridges == 0);
}

TEST_CASE("a machine without cards, or without GPUs, has no neighbours") {
  MachineTopology none = machine();
  std::erase_if(none.pci_devices, [](const PciDevice& one) { return one.kind == "network"; });
  for (const GpuPlace& place : place_gpus(none)) CHECK(place.nearest.empty());
  CHECK(place_gpus({}).empty());
  CHECK(to_json(place_gpus({})) == Json::array());
}

TEST_CASE("a device that is near to every node is near to none") {
  MachineTopology vague = machine();
  for (PciDevice& one : vague.pci_devices) one.numa_nodes = {0, 1};
  CHECK_FALSE(place_gpus(vague)[0].nearest[0].same_node);
}

TEST_CASE("places are written as JSON") {
  CHECK(to_json(place_gpus(machine()))[0] == Json{{"pci_address", "0000:05:00.0"},
                                                  {"numa_nodes", {0}},
                                                  {"nearest_network",
                                                   {{{"pci_address", "0000:06:00.0"},
                                                     {"names", {"mlx5_0", "ib0"}},
                                                     {"same_node", true},
                                                     {"shared_bridges", 2}}}}});
}

#ifdef BENCH_HWLOC
TEST_CASE("in a saved server of two sockets each GPU has cards by the bridges they share") {
  if (!available("32em64t-2n8c2t-pci-wholeio.xml")) return;
  const auto places = place_gpus(read_hwloc(kMachines / "32em64t-2n8c2t-pci-wholeio.xml"));
  REQUIRE(places.size() == 3);
  // The saved file has a card under the root port of the last GPU.
  CHECK(places[2].address == "0000:84:00.0");
  REQUIRE(places[2].nearest.size() == 1);
  CHECK(places[2].nearest[0].names == std::vector<std::string>{"ib0", "mlx5_0"});
  CHECK(places[2].nearest[0].shared_bridges == 2);
  CHECK(places[0].numa_nodes == std::vector<int>{0});
  REQUIRE_FALSE(places[0].nearest.empty());
  CHECK_FALSE(places[0].nearest[0].same_node);
}

TEST_CASE("in a saved DGX-2 each GPU hangs on one of two nodes, and no card was saved") {
  if (!available("nvidiaDGX2.xml")) return;
  const auto places = place_gpus(read_hwloc(kMachines / "nvidiaDGX2.xml"));
  REQUIRE(places.size() == 16);
  CHECK(places.front().numa_nodes == std::vector<int>{0});
  CHECK(places.back().numa_nodes == std::vector<int>{1});
  for (const GpuPlace& place : places) CHECK(place.nearest.empty());
}
#endif

}  // namespace
}  // namespace bench
