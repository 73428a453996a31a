#include "tests/support/catch.h"
#include "tests/support/topology_host.h"

using namespace bench;

namespace {

std::vector<Difference> against(const TopologyHost& good, const TopologyHost& other) {
  std::vector<Difference> found = compare(learn_profile("good", good.shape(), {}), other.shape());
  return found;
}

/// The only difference; fails the test if there are others.
Difference only(const std::vector<Difference>& differences) {
  std::string all;
  for (const Difference& one : differences) all += one.path + " ";
  INFO(all);
  REQUIRE(differences.size() == 1);
  return differences.front();
}

}  // namespace

TEST_CASE("a shape counts devices by model, link and location") {
  const Shape shape = TopologyHost().shape();
  CHECK(value_at(shape, "gpu/10de:20b0/count") == 8);
  CHECK(value_at(shape, "gpu/10de:20b0/link") == Json{{"gen4 x16", 8}});
  CHECK(value_at(shape, "gpu/10de:20b0/numa") == Json{{"node 0", 4}, {"node 1", 4}});
  CHECK(value_at(shape, "gpu/10de:20b0/model") == Json{{"A100", 8}});
  CHECK(value_at(shape, "gpu/10de:20b0/switch") ==
        Json{{"with 3 gpu/10de:20b0, 1 network/15b3:101b, 1 nvme/144d:a80a", 8}});
  CHECK(value_at(shape, "network/15b3:101b/speed") == Json{{"up 200 Gbit/s", 2}});
  CHECK(value_at(shape, "nvme/144d:a80a/model") == Json{{"PM1733 3.84 TB", 2}});
  CHECK(value_at(shape, "memory/modules") == Json{{"64 GiB DDR4 3200 MT/s", 16}});
  CHECK(value_at(shape, "setting/thp") == "madvise");
  CHECK(value_at(shape, "mitigation/spectre_v2") == "Mitigation: IBRS");
  CHECK(value_at(shape, "kernel_option/iommu") == "pt");
  CHECK(value_at(shape, "module/nvidia") == "550.54");
}

TEST_CASE("a shape excludes addresses, names and serial numbers") {
  TopologyHost other;
  for (Json& card : other.facts["network"])
    card["name"] = "renamed" + card["name"].get<std::string>();
  for (Json& device : other.facts["pci_devices"]) device["serial"] = "another";
  CHECK(against(TopologyHost(), other).empty());
}

TEST_CASE("a missing GPU is one difference with its location") {
  TopologyHost other;
  const Difference one = only(against(TopologyHost(), other.remove_gpu(5)));
  CHECK(one.path == "gpu/10de:20b0/count");
  CHECK(one.severity == Severity::missing);
  CHECK(one.expected == 8);
  CHECK(one.found == 7);
  CHECK_THAT(one.note, Catch::Contains("node 1"));
}

TEST_CASE("a missing kind of device is one difference") {
  TopologyHost other;
  for (int gpu = 0; gpu < 8; ++gpu) other.remove_gpu(gpu);
  const Difference one = only(against(TopologyHost(), other));
  CHECK(one.severity == Severity::missing);
  CHECK(one.found.is_null());
}

TEST_CASE("eight lanes instead of sixteen are a degraded link of a named device") {
  TopologyHost other;
  other.link(gpu_address(3))["pcie_lanes"] = 8;
  const Difference one = only(against(TopologyHost(), other));
  CHECK(one.severity == Severity::degraded);
  CHECK(one.found == Json{{"gen4 x16", 7}, {"gen4 x8 of gen4 x16", 1}});
  CHECK(one.devices == std::vector<std::string>{gpu_address(3)});
}

TEST_CASE("a slower generation, a slower port and a port that is down are degraded links") {
  TopologyHost other;
  SECTION("generation") { other.link(gpu_address(0))["pcie_generation"] = 3; }
  SECTION("speed") { other.facts["network"][0]["speed_bits_per_s"] = 100'000'000'000; }
  SECTION("down") {
    other.facts["network"][0]["state"] = "down";
    other.facts["network"][0]["speed_bits_per_s"] = nullptr;
  }
  CHECK(only(against(TopologyHost(), other)).severity == Severity::degraded);
}

TEST_CASE("a missing DIMM shows in the modules and in the total") {
  TopologyHost other;
  other.facts["memory_modules"].erase(4);
  CHECK(only(against(TopologyHost(), other)).severity == Severity::missing);
  other.facts["memory_by_kernel_bytes"] = 15.0 / 16 * 1e12;
  const auto both = against(TopologyHost(), other);
  REQUIRE(both.size() == 2);
  CHECK(both[1].path == "memory/total_bytes");
  CHECK(both[1].severity == Severity::missing);
}

TEST_CASE("memory sizes that differ by the firmware reserve are equal") {
  TopologyHost other;
  other.facts["memory_by_kernel_bytes"] = 0.995e12;
  CHECK(against(TopologyHost(), other).empty());
}

TEST_CASE("different firmware is a version and a kernel setting a setting, each with its path") {
  TopologyHost other;
  SECTION("firmware of one card") {
    other.facts["network"][1]["firmware"] = "20.31.2006";
    const Difference one = only(against(TopologyHost(), other));
    CHECK(one.severity == Severity::version);
    CHECK(one.devices == std::vector<std::string>{"ib1"});
  }
  SECTION("BIOS") {
    other.facts["machine"]["bios_version"] = "1.1";
    CHECK(only(against(TopologyHost(), other)).path == "machine/bios_version");
  }
  SECTION("setting") {
    other.facts["settings"]["thp"] = "never";
    const Difference one = only(against(TopologyHost(), other));
    CHECK(one.severity == Severity::setting);
    CHECK(one.path == "setting/thp");
    CHECK(one.found == "never");
  }
  SECTION("a word of the command line that is missing") {
    other.facts["kernel_options"].erase("iommu");
    CHECK(only(against(TopologyHost(), other)).path == "kernel_option/iommu");
  }
}

TEST_CASE("a GPU on the other socket has a different location") {
  TopologyHost other;
  for (Json& device : other.facts["pci_devices"])
    if (device["address"] == gpu_address(0)) device["numa_nodes"] = {1};
  const Difference one = only(against(TopologyHost(), other));
  CHECK(one.path == "gpu/10de:20b0/numa");
  CHECK(one.severity == Severity::different);
}

TEST_CASE("a device beyond a complete profile is extra") {
  TopologyHost other;
  other.facts["pci_devices"].push_back(
      {{"address", "0000:f0:00.0"}, {"kind", "network"}, {"id", "8086:1572"}});
  const auto found = against(TopologyHost(), other);
  CHECK(only(found).severity == Severity::extra);
  CHECK(found[0].path == "network/8086:1572/count");
}

TEST_CASE("an unreadable value is named, and neither equal nor missing") {
  TopologyHost other;
  other.facts["settings"] = {{"unreadable", "not in a saved topology"}};
  other.facts["network"][0]["firmware"] = {{"unreadable", "no permission"}};
  const auto found = against(TopologyHost(), other);
  REQUIRE(found.size() == 3);
  for (const Difference& one : found) CHECK(one.severity == Severity::unreadable);
  CHECK(value_at(other.shape(), "network/15b3:101b/firmware")["unreadable"] == "no permission");
  CHECK(value_at(other.shape(), "setting/anything")["unreadable"] == "not in a saved topology");
}

TEST_CASE("damaged or hostile facts yield a partial shape") {
  CHECK(shape_of(nullptr).empty());
  CHECK(shape_of(Json::array({1, 2})).empty());
  Json facts = TopologyHost().facts;
  facts["pci_devices"] = {1, nullptr, {{"kind", 3}, {"id", Json::array()}, {"bridges", 7}}};
  facts["network"] = {{{"name", 5}, {"speed_bits_per_s", "fast"}, {"pci_address", nullptr}}, 3};
  facts["caches"] = {{{"count", 1e300}, {"size_bytes", "x"}}};
  facts["numa"] = "none";
  facts["kernel_options"] = {{"long", std::string(100000, 'x')}};
  const Shape shape = shape_of(facts);
  CHECK(value_at(shape, "unknown/unknown/count") == 3);
  CHECK(value_at(shape, "kernel_option/long").get<std::string>().size() < 1000);
}
