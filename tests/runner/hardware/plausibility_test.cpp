#include "runner/hardware/plausibility.h"

#include "runner/hardware/hardware_limits.h"
#include "runner/hardware/hardware_text.h"
#include "tests/runner/shipped_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

std::string kind_of(const Threshold& threshold) {
  const auto finding = check_threshold(shipped_catalogue(), threshold);
  return finding ? std::string(to_string(finding->kind)) : "plausible";
}

std::string threshold_text(const Threshold& threshold) {
  const auto finding = check_threshold(shipped_catalogue(), threshold);
  return finding ? finding->text : "plausible";
}

Json reduce(int nodes, int cards, double card_bits) {
  return {{"op", "all_reduce"},
          {"ranks", 8 * nodes},
          {"nodes", nodes},
          {"nics_per_node", cards},
          {"nic_bytes_per_second", card_bits / 8}};
}

const std::string kMemory = "memory_bandwidth.bandwidth";
const std::string kBusbw = "collective.busbw";
const Json kNone = Json::object();

struct Published {
  const char* what;
  Threshold threshold;
  const char* kind;
};

// Numbers that were, or are, in acceptance tests and guides, in base units as they were meant to be
// read where they stand.
const std::vector<Published> kPublished = {
    {"DCGM, H200: 2333 in a field of MB/s", {kMemory, kNone, 2333e6, "h200-sxm-141gb"}, "unit"},
    {"DCGM, L40: 49050 MB/s", {kMemory, kNone, 49050e6, "l40"}, "power_of_ten"},
    {"DCGM, H100 of 64 GB: 122250 MB/s", {kMemory, kNone, 122250e6, "h100"}, "power_of_ten"},
    {"DCGM, H100 of 94 GB: a comment of 202000 MB/s beside 2020000",
     {kMemory, kNone, 202000e6, "h100-nvl-94gb"},
     "power_of_ten"},
    {"AzNHC README, HDR: 180 GB/s a card",
     {"network.bandwidth", {{"nic_bytes_per_second", 25e9}}, 180e9, "a100-sxm4-80gb"},
     "unit"},
    {"the same slip with a card of 400 Gb/s",
     {"network.bandwidth", {{"nic_bytes_per_second", 50e9}}, 380e9, "h100-sxm5-80gb"},
     "unit"},
    {"AzNHC README, H200: 400 Gb/s of a card of 400 Gb/s",
     {"network.bandwidth", {{"nic_bytes_per_second", 50e9}}, 50e9, "h200-sxm-141gb"},
     "above_link"},
    {"AzNHC issue 162: H100 NVL with the peer floor of SXM",
     {"copy.bandwidth", {{"route", "peer_write"}}, 335e9, "h100-nvl-94gb"},
     "other_product"},
    {"OCI, B200: 440 GB/s as for H100",
     {kBusbw, {{"op", "all_reduce"}, {"ranks", 8}}, 440e9, "b200-sxm-180gb"},
     "other_product"},
    {"AWS p4d: 300 GB/s", {kBusbw, reduce(2, 4, 100e9), 300e9, "a100-sxm4-40gb"}, "above_link"},
    {"AWS p5: 800 GB/s", {kBusbw, reduce(2, 32, 100e9), 800e9, "h100-sxm5-80gb"}, "above_link"},
    {"AWS p6: 900 GB/s", {kBusbw, reduce(2, 8, 400e9), 900e9, "b200-sxm-180gb"}, "above_link"},
    {"Azure guide, A100: device to host 6.27 GB/s",
     {"copy.bandwidth", {{"route", "device_to_host"}}, 6.27e9, "a100-sxm4-80gb"},
     "too_low"},
    {"Voltage Park: sparse f16 peak",
     {"gemm.throughput", {{"dtype", "f16"}}, 1979e12, "h100-sxm5-80gb"},
     "sparse"},
    {"Voltage Park: sparse fp8 peak",
     {"gemm.throughput", {{"dtype", "fp8_e4m3"}}, 3958e12, "h100-sxm5-80gb"},
     "sparse"},
    {"Voltage Park: all_gather of 183 GB/s beside an all_reduce of 480",
     {kBusbw, {{"op", "all_gather"}, {"ranks", 8}}, 183e9, "h100-sxm5-80gb"},
     "too_low"},
};

}  // namespace

TEST_CASE("every published error is found and classified") {
  for (const Published& one : kPublished) {
    INFO(one.what << ": " << threshold_text(one.threshold));
    CHECK(kind_of(one.threshold) == one.kind);
  }
}

TEST_CASE("two numbers of one project for the same thing are a contradiction") {
  const Json up = {{"route", "host_to_device"}};
  const Json reduced = {{"op", "all_reduce"}, {"ranks", 8}};
  const Json card = {{"nic_bytes_per_second", 50e9}};
  const std::string h200 = "h200-sxm-141gb";
  const auto findings = contradictions({{"copy.bandwidth", up, 48e9, h200, true, "conf"},
                                        {"copy.bandwidth", up, 55e9, h200, true, "README"},
                                        {kBusbw, reduced, 431e9, h200, true, "conf"},
                                        {kBusbw, reduced, 480e9, h200, true, "README"},
                                        {"network.bandwidth", card, 45e9, h200, true, "conf"},
                                        {"network.bandwidth", card, 50e9, h200, true, "README"},
                                        {kBusbw, reduced, 460e9, "h100-sxm5-80gb", true, "conf"}});
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].kind == FindingKind::contradiction);
  CHECK_THAT(findings[0].text,
             Contains("48.00 GB/s on h200-sxm-141gb according to conf, 55.00 GB/s"));
}

TEST_CASE("a finding gives the value, the probable error, and the right range") {
  const std::string text = threshold_text({kMemory, kNone, 2333e6, "h200-sxm-141gb"});
  CHECK_THAT(text, Contains("2.333 GB/s on h200-sxm-141gb"));
  CHECK_THAT(text, Contains("1000 times too low"));
  CHECK_THAT(text, Contains("2.333 TB/s would be 49 % of the limit"));
  CHECK_THAT(threshold_text({"copy.bandwidth", {{"route", "peer_write"}}, 335e9, "h100-nvl-94gb"}),
             Contains("floor of h100-sxm5-80gb"));
}

TEST_CASE("what the files report gives no finding, unless they doubt it themselves") {
  std::size_t doubted = 0;
  for (const HardwareEntry& entry : shipped_catalogue().all())
    for (const ReportedValue& one : entry.reported) {
      const auto threshold = threshold_from(entry, one);
      INFO(entry.name << " " << one.metric << " " << threshold_text(threshold));
      // Two numbers that contradict each other may both make sense.
      if (one.doubt.starts_with("the configuration of the same project says")) {
        CHECK_FALSE(contradictions_in(entry).empty());
        continue;
      }
      CHECK((kind_of(threshold) == "plausible") == one.doubt.empty());
      doubted += !one.doubt.empty();
    }
  CHECK(doubted >= 12);
}

TEST_CASE("a project that contradicts itself is found in the files") {
  const auto count = [](const char* name) {
    return contradictions_in(*shipped_catalogue().find(name)).size();
  };
  CHECK(count("h200-sxm-141gb") == 4);  // both host copies, busbw, cards
  CHECK(count("h100-sxm5-80gb") == 2);  // both host copies
  CHECK(count("a100-sxm4-80gb") == 3);  // both host copies, and the unit of cards
  CHECK(count("b200-sxm-180gb") == 0);
}

TEST_CASE("floors of 50 to 95 per cent of a limit give no finding on any product") {
  const std::vector<std::pair<std::string, Json>> metrics = {
      {"gemm.throughput", {{"dtype", "f32"}}},
      {"gemm.throughput", {{"dtype", "f64"}}},
      {"gemm.throughput", {{"dtype", "f16"}}},
      {"gemm.throughput", {{"dtype", "fp8_e4m3"}}},
      {"gemm.throughput", {{"dtype", "int8"}}},
      {kMemory, kNone},
      {"copy.bandwidth", {{"route", "host_to_device"}}},
      {"copy.bandwidth", {{"route", "peer_write"}}},
      {kBusbw, {{"op", "all_reduce"}, {"ranks", 8}}},
      {kBusbw, {{"op", "all_gather"}, {"ranks", 8}}},
      {"collective.algbw", {{"op", "all_reduce"}, {"ranks", 8}}},
      {kBusbw, reduce(2, 8, 400e9)}};
  std::size_t checked = 0;
  for (const HardwareEntry& entry : shipped_catalogue().all())
    for (const auto& [metric, params] : metrics)
      if (const auto limit = hardware_limit(entry, {}, metric, params))
        for (const double share : {0.51, 0.6, 0.7, 0.8, 0.9, 0.95}) {
          const Threshold threshold{metric, params, share * limit->value, entry.name};
          INFO(share << ": " << threshold_text(threshold));
          CHECK(kind_of(threshold) == "plausible");
          ++checked;
        }
  CHECK(checked > 800);
}

TEST_CASE("without a product only what no product can mean is found") {
  const Json f16 = {{"dtype", "f16"}};
  CHECK(kind_of({"gemm.throughput", f16, 700e12, ""}) == "plausible");
  CHECK(kind_of({"gemm.throughput", f16, 700e3, ""}) == "unit");
  CHECK(kind_of({"gemm.throughput", f16, 700e18, ""}) == "unit");
  CHECK(kind_of({"gemm.throughput", f16, 700e12, "no-such-product"}) == "plausible");
}

TEST_CASE("unknown limits and small sizes are not judged") {
  CHECK(kind_of({"gemm.throughput", {{"dtype", "f32"}}, 1e12, "h200-sxm-141gb", false}) ==
        "plausible");
  CHECK(kind_of({"null.value", kNone, 1e99, "h200-sxm-141gb"}) == "plausible");
  CHECK(kind_of({"gemm.throughput", {{"dtype", 3}}, 1e99, "h200-sxm-141gb"}) == "plausible");
  CHECK(kind_of({kMemory, kNone, 0.0, "h200-sxm-141gb"}) == "plausible");
}

TEST_CASE("a share of the limit is no percentage") {
  CHECK_FALSE(check_share(0.95));
  CHECK(check_share(95)->kind == FindingKind::unit);
  CHECK(check_share(1.2)->kind == FindingKind::above_peak);
}
