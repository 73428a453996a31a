#include "runner/hardware/hardware_limits.h"

#include "runner/hardware/collective_limits.h"
#include "runner/hardware/copy_limits.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

const HardwareEntry& product(const std::string& name) {
  static const auto catalogue = HardwareCatalogue::load("hosts/hardware");
  return *catalogue.find(name);
}

const std::string kH100 = "h100-sxm5-80gb";

Limit busbw(const std::string& name, const Json& params, const DeviceFacts& facts = {}) {
  return busbw_limit(product(name), facts, collective_path(params)).value();
}

}  // namespace

TEST_CASE("the peak is the datasheet's if the device matches the datasheet") {
  DeviceFacts facts;
  facts.multiprocessors = 132;
  facts.clock_hz = 1830e6;
  const auto limit = gemm_limit(product(kH100), facts, "bf16");
  REQUIRE(limit);
  CHECK(limit->value == 989.4e12);
  CHECK(limit->kind == LimitKind::datasheet);
  CHECK_THAT(limit->source, Contains("dense at 1.830 GHz (NVIDIA H100"));
}

TEST_CASE("block-scaled products have the peak of their elements") {
  const HardwareEntry& b200 = product("b200-sxm-180gb");
  CHECK(gemm_limit(b200, {}, "mxfp8")->value == gemm_limit(b200, {}, "fp8_e4m3")->value);
  CHECK(gemm_limit(b200, {}, "nvfp4")->value == gemm_limit(b200, {}, "fp4")->value);
  CHECK_FALSE(gemm_limit(product(kH100), {}, "nvfp4"));
}

TEST_CASE("multiprocessors and clock of the device correct the peak, with the derivation") {
  DeviceFacts facts;
  facts.clock_hz = 1980e6;
  const auto faster = gemm_limit(product(kH100), facts, "bf16");
  CHECK(faster->value == Approx(132 * 4096 * 1980e6));
  CHECK_THAT(faster->source, Contains("132 multiprocessors x 4096 operations a cycle x 1.980 GHz"));
  facts = {};
  facts.multiprocessors = 66;
  CHECK(gemm_limit(product(kH100), facts, "bf16")->value == Approx(66 * 4096 * 1830e6));
  CHECK(gemm_limit(product("h100-nvl-94gb"), facts, "bf16")->value == Approx(835e12 / 2));
}

TEST_CASE("a peak says the clock that it counts with, so that a share at the clock held follows") {
  CHECK(gemm_limit(product(kH100), {}, "bf16")->clock_hz == 1830e6);
  CHECK(gemm_limit(product(kH100), {}, "f64")->clock_hz == 1980e6);
  DeviceFacts facts;
  facts.clock_hz = 1755e6;
  CHECK(gemm_limit(product(kH100), facts, "bf16")->clock_hz == 1755e6);
  CHECK_FALSE(gemm_limit(product("gh200-96gb"), {}, "bf16")->clock_hz);  // no sheet tells
}

TEST_CASE("f64 is that of the matrix instructions, and an unknown type has no limit") {
  CHECK(gemm_limit(product(kH100), {}, "f64")->value == 66.9e12);
  CHECK_FALSE(gemm_limit(product("v100-sxm2-32gb"), {}, "fp8_e4m3"));
  CHECK_THAT(gemm_limit(product(kH100), {}, "int8")->source, Contains("POP/s"));
}

TEST_CASE("memory bandwidth follows from bus and clock if the device reports both") {
  DeviceFacts facts;
  facts.memory_bus_bits = 5120;
  facts.memory_clock_hz = 1593e6;
  CHECK(memory_limit(product(kH100), facts)->value == Approx(2039e9).epsilon(0.001));
  CHECK(memory_limit(product(kH100), {})->value == 3352e9);
}

TEST_CASE("PCIe is transfers x lanes x encoding x payload over packet") {
  CHECK(pcie_bytes_per_second({5, 16, 256, 0}) == Approx(63.015e9).epsilon(1e-4));
  CHECK(pcie_bytes_per_second({4, 16, 256, 24}) == Approx(28.805e9).epsilon(1e-4));
  CHECK(pcie_bytes_per_second({3, 16, 128, 24}) == Approx(13.266e9).epsilon(1e-4));
  CHECK(pcie_bytes_per_second({1, 1, 256, 0}) == Approx(0.25e9));
  CHECK(pcie_bytes_per_second({7, 16, 256, 24}) == 0.0);
  CHECK(pcie_bytes_per_second({0, 16, 256, 24}) == 0.0);
  CHECK(pcie_bytes_per_second({5, -1, 256, 24}) == 0.0);
}

TEST_CASE("a copy's limit is that of the actual link, and states what the product supports") {
  DeviceFacts facts;
  facts.pcie_generation = 4;
  facts.pcie_lanes = 8;
  const auto limit = copy_limit(product(kH100), facts, "host_to_device");
  CHECK(limit->value == Approx(pcie_bytes_per_second({4, 8, 256, 20})));
  CHECK(limit->kind == LimitKind::datasheet);
  CHECK_THAT(limit->source, Contains("PCIe 4 x8: 16 GT/s x 8 lanes x 128/130"));
  CHECK_THAT(limit->source, Contains("the product supports 5 x16"));
  facts.pcie_payload_bytes = 512;
  CHECK(copy_limit(product(kH100), facts, "device_to_host")->kind == LimitKind::proven);
  CHECK(copy_limit(product("gh200-96gb"), {}, "host_to_device")->value == 450e9);
  CHECK_FALSE(copy_limit(product("gb200-nvl72"), {}, "host_to_device"));
}

TEST_CASE("a sleeping link is not taken for a slow one, and a slow one on the path is named") {
  DeviceFacts facts;
  facts.pcie_generation = 5;
  facts.pcie_lanes = 8;
  facts.pcie_generation_now = 1;
  const auto narrow = copy_limit(product(kH100), facts, "device_to_host");
  CHECK(narrow->value == Approx(pcie_bytes_per_second({5, 8, 256, 24})));
  CHECK_THAT(narrow->source, Contains("PCIe 5 x8"));
  CHECK_THAT(narrow->source, Contains("; the product supports 5 x16"));
  CHECK_THAT(narrow->source, Contains("; when idle its own is at generation 1"));
  facts.pcie_generation_now = 5;
  facts.pcie_slowest = "0000:01:00.0";
  const auto behind = copy_limit(product(kH100), facts, "device_to_host");
  CHECK_THAT(behind->source, Contains("; the slowest link of its path, at 0000:01:00.0"));
  CHECK(behind->source.find("at rest") == std::string::npos);
}

TEST_CASE("a superchip copies over C2C as its driver reports, over PCIe if C2C is down") {
  DeviceFacts facts;
  facts.c2c_links = 10;
  facts.c2c_bytes_per_second = 447.12e9;
  const auto told = copy_limit(product("gh200-96gb"), facts, "host_to_device");
  CHECK(told->value == 447.12e9);
  CHECK(told->kind == LimitKind::datasheet);
  CHECK_THAT(told->source, Contains("NVLink-C2C: 10 links"));
  CHECK(copy_limit(product("gb200-nvl72"), facts, "host_to_device")->value == 447.12e9);
  CHECK(copy_limit(product("gh200-96gb"), facts, "both")->value == Approx(2 * 447.12e9));
  facts.c2c_links = 0;
  facts.c2c_bytes_per_second = {};
  CHECK_FALSE(copy_limit(product("gh200-96gb"), facts, "host_to_device"));  // of PCIe nothing known
  facts.pcie_generation = 5;
  facts.pcie_lanes = 16;
  const auto down = copy_limit(product("gh200-96gb"), facts, "host_to_device");
  CHECK(down->value < 64e9);
  CHECK_THAT(down->source, Contains("; its NVLink-C2C is not active"));
}

TEST_CASE("peers with all links down are limited by PCIe, and the source says so") {
  DeviceFacts facts;
  facts.links = 0;
  const auto limit = copy_limit(product(kH100), facts, "peer_read");
  CHECK(limit->value == Approx(pcie_bytes_per_second({5, 16, 256, 24})));
  CHECK_THAT(limit->source, Contains("; none of its NVLink 4 is up"));
  CHECK(device_link_limit(product(kH100), facts)->value < 64e9);
}

TEST_CASE("both directions add up, and a copy inside reads and writes what it counts") {
  const auto one = [](const char* route) { return copy_limit(product(kH100), {}, route)->value; };
  CHECK(one("both") == Approx(one("host_to_device") + one("device_to_host")));
  CHECK(one("inside") == Approx(3352e9 / 2));
  CHECK_FALSE(copy_limit(product(kH100), {}, "sideways"));
}

TEST_CASE("a peer is reached over the links that lead to it") {
  CHECK(copy_limit(product(kH100), {}, "peer_read")->value == 450e9);
  CHECK(copy_limit(product("mi300x"), {}, "peer_read")->value == 64e9);
  CHECK(copy_limit(product("l40"), {}, "peer_read")->value < 32e9);
  DeviceFacts facts;
  facts.links = 9;
  CHECK(copy_limit(product(kH100), facts, "peer_read")->value == 225e9);
  CHECK(copy_limit(product(kH100), facts, "peer_read")->kind == LimitKind::proven);
}

TEST_CASE("a ring's busbw is bounded by the links, whatever the number of ranks") {
  for (const int ranks : {2, 8, 72})
    CHECK(busbw(kH100, {{"ranks", ranks}, {"algorithm", "ring"}}).value == 450e9);
  CHECK(busbw(kH100, {{"ranks", 8}, {"op", "all_gather"}}).value == 450e9);
  CHECK(busbw("a100-sxm4-80gb", {{"ranks", 8}}).value == 300e9);
}

TEST_CASE("a switch that adds lets busbw pass the links, up to 2(n-1)/n") {
  const Limit limit = busbw(kH100, {{"ranks", 8}});
  CHECK(limit.value == Approx(1.75 * 450e9));
  CHECK(limit.value > 480e9);  // what people measure, and call impossible
  CHECK_THAT(limit.source, Contains("each device sends its S bytes once"));
  const auto algbw = algbw_limit(product(kH100), {}, collective_path({{"ranks", 8}}));
  CHECK(algbw->value == Approx(450e9));
}

TEST_CASE("between nodes the cards bound what the links could do") {
  const Json two = {
      {"ranks", 16}, {"nodes", 2}, {"nics_per_node", 4}, {"nic_bytes_per_second", 12.5e9}};
  const Limit limit = busbw("a100-sxm4-40gb", two);
  CHECK(limit.value == Approx(15.0 / 16 * 2 * 50e9));
  CHECK(limit.kind == LimitKind::datasheet);
  CHECK_THAT(limit.source, Contains("4 cards x 12.50 GB/s = 50.00 GB/s"));
  Json added = two;
  added["reduces_in_network"] = true;
  CHECK(between_nodes_limit(collective_path(added))->value == Approx(2 * 15.0 / 16 * 50e9));
  added["nodes"] = 8;
  added["ranks"] = 64;
  CHECK(between_nodes_limit(collective_path(added))->value == Approx(2 * 63.0 / 64 * 50e9));
  Json spread = two;
  spread["op"] = "all_to_all";
  CHECK(busbw("a100-sxm4-40gb", spread).value == Approx(15.0 / 16 * 2 * 50e9 / 8));
}

TEST_CASE("a hierarchy may pass a flat ring inside the node by what it keeps there") {
  const Json fast = {{"ranks", 16},
                     {"nodes", 2},
                     {"nics_per_node", 8},
                     {"nic_bytes_per_second", 500e9},
                     {"algorithm", "ring"}};
  CHECK(busbw(kH100, fast).value == Approx(15.0 / 16 * 8.0 / 7 * 450e9));
}

TEST_CASE("parameters of another kind are as good as missing") {
  const CollectivePath path = collective_path({{"op", 3},
                                               {"ranks", -8},
                                               {"nodes", "two"},
                                               {"nics_per_node", 1e300},
                                               {"nic_bytes_per_second", 0},
                                               {"reduces_in_network", "yes"}});
  CHECK(path.op == "all_reduce");
  CHECK(path.ranks == 0);
  CHECK(path.nodes == 1);
  CHECK_FALSE(path.nics_per_node);
  CHECK_FALSE(path.nic_bytes_per_second);
  CHECK_FALSE(path.reduces_in_network);
  CHECK(busbw_limit(product(kH100), {}, path)->value == 900e9);
  CHECK_FALSE(
      busbw_limit(product(kH100), {}, collective_path({{"op", "all_gather"}, {"nodes", 2}})));
}
