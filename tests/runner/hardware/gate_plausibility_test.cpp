#include "runner/hardware/gate_plausibility.h"

#include "tests/runner/shipped_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

Inventory machines(const std::string& hardware) {
  Host host;
  host.name = "node1";
  if (!hardware.empty()) host.labels["hardware"] = hardware;
  return {{host}};
}

Suite suite_with(const std::string& probe, const Json& params, const Json& gate,
                 const std::string& device = "cuda") {
  Case one;
  one.name = "a";
  one.probe = probe;
  one.device = device;
  one.params = params;
  one.gates = Json::array({gate});
  Suite suite;
  suite.path = "mine.json";
  suite.cases = {one};
  return suite;
}

std::string kind_of(const Suite& suite, const std::string& hardware = "h200-sxm-141gb") {
  const auto findings = implausible_gates(suite, machines(hardware), shipped_catalogue());
  return findings.empty() ? "plausible" : std::string(to_string(findings.front().kind));
}

const Json kNoFindings = Json::object();
const Json kLarge = {{"dtypes", {"bf16"}}, {"shapes", {{8192, 8192, 8192}}}};

}  // namespace

TEST_CASE("a gate in other units than base units is found, with its place") {
  const auto suite =
      suite_with("memory_bandwidth", kNoFindings, {{"metric", "bandwidth"}, {"min", 4000}});
  const auto findings = implausible_gates(suite, machines("h200-sxm-141gb"), shipped_catalogue());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::unit);
  CHECK_THAT(findings[0].text, Contains("mine.json: /cases/0/gates/0: memory_bandwidth.bandwidth"));
  CHECK_THAT(findings[0].text, Contains("1000000000 times too low"));
}

TEST_CASE("a gate that makes sense is not mentioned") {
  CHECK(kind_of(suite_with("gemm", kLarge, {{"metric", "throughput"}, {"min", 700e12}})) ==
        "plausible");
  CHECK(kind_of(suite_with("memory_bandwidth", kNoFindings,
                           {{"metric", "memory_bandwidth.bandwidth"}, {"min", 3.8e12}})) ==
        "plausible");
  CHECK(kind_of(suite_with("null", kNoFindings, {{"metric", "value"}, {"min", 1e30}})) ==
        "plausible");
}

TEST_CASE("a gate takes its type from where, from the case's list or from an axis") {
  const Json gate = {{"metric", "throughput"}, {"min", 1700e12}};
  CHECK(kind_of(suite_with("gemm", kLarge, gate)) == "sparse");
  Json either = kLarge;
  either["dtypes"] = {"bf16", "fp8_e4m3"};
  CHECK(kind_of(suite_with("gemm", either, gate)) == "plausible");
  Json pinned = gate;
  pinned["where"] = {{"dtype", "bf16"}};
  CHECK(kind_of(suite_with("gemm", either, pinned)) == "sparse");
  Suite axis = suite_with("gemm", {{"shapes", {{8192, 8192, 8192}}}}, gate);
  axis.cases[0].axes["dtype"] = {"bf16"};
  CHECK(kind_of(axis) == "sparse");
}

TEST_CASE("a floor that serves small sizes too may be low") {
  const Json gate = {{"metric", "throughput"}, {"min", 99e12}};
  CHECK(kind_of(suite_with("gemm", kLarge, gate)) == "power_of_ten");
  CHECK(kind_of(suite_with("gemm", {{"dtypes", {"bf16"}}}, gate)) == "plausible");
  const Json busbw = {{"metric", "busbw"}, {"min", 1e9}};
  CHECK(kind_of(suite_with("collective", {{"min_bytes", 4}}, busbw)) == "plausible");
  Json large = busbw;
  large["where"] = {{"size_bytes", 1073741824}};
  Suite suite = suite_with("collective", {{"min_bytes", 4}}, large);
  suite.cases[0].ranks_per_host = 8;
  CHECK(kind_of(suite) == "too_low");
  suite.cases[0].gates[0]["min"] = 40e9;
  CHECK(kind_of(suite) == "power_of_ten");
  suite.cases[0].gates[0]["min"] = 440e9;
  CHECK(kind_of(suite) == "plausible");
}

TEST_CASE("a floor for copies is low only where host memory is pinned and sizes are large") {
  const Json gate = {{"metric", "bandwidth"}, {"min", 5.2e9}};
  Json params = {{"routes", {"host_to_device"}}};
  CHECK(kind_of(suite_with("copy", params, gate)) == "plausible");
  params["memory"] = {"pinned"};
  CHECK(kind_of(suite_with("copy", params, gate)) == "power_of_ten");
  params["sizes"] = {65536, 268435456};
  CHECK(kind_of(suite_with("copy", params, gate)) == "plausible");
  Json pinned = gate;
  pinned["where"] = {{"size_bytes", 268435456}};
  CHECK(kind_of(suite_with("copy", params, pinned)) == "power_of_ten");
}

TEST_CASE("caches are faster than the memory whose limit is known") {
  Json gate = {{"metric", "bandwidth"}, {"min", 9e12}};
  CHECK(kind_of(suite_with("memory_bandwidth", kNoFindings, gate)) == "above_peak");
  gate["where"] = {{"level", "L2"}};
  CHECK(kind_of(suite_with("memory_bandwidth", kNoFindings, gate)) == "plausible");
  gate["where"] = {{"size_bytes", 33554432}};
  CHECK(kind_of(suite_with("memory_bandwidth", kNoFindings, gate)) == "plausible");
}

TEST_CASE("an upper bound is only checked for typing errors") {
  CHECK(kind_of(suite_with("gemm", kLarge, {{"metric", "throughput"}, {"max", 1500e12}})) ==
        "plausible");
  CHECK(kind_of(suite_with("gemm", kLarge, {{"metric", "throughput"}, {"max", 900e9}})) == "unit");
}

TEST_CASE("the product is that of the hosts' label, or any") {
  const auto suite = suite_with("gemm", kLarge, {{"metric", "throughput"}, {"min", 800e12}});
  CHECK(kind_of(suite, "h200-sxm-141gb") == "plausible");
  CHECK(kind_of(suite, "v100-sxm2-32gb") == "plausible");  // it has no bf16
  CHECK(kind_of(suite, "a100-sxm4-80gb") != "plausible");
  CHECK(kind_of(suite, "") == "plausible");
}

TEST_CASE("on the host only a share can be found wrong") {
  CHECK(kind_of(suite_with("gemm", kNoFindings, {{"metric", "throughput"}, {"min", 1}}, "host")) ==
        "plausible");
  CHECK(kind_of(suite_with("gemm", kNoFindings, {{"metric", "throughput"}, {"min_of_limit", 90}},
                           "host")) == "unit");
  CHECK(kind_of(suite_with("gemm", kNoFindings, {{"metric", "throughput"}, {"min_of_limit", 0.9}},
                           "host")) == "plausible");
}

TEST_CASE("odd values in a gate's where are harmless") {
  for (const char* key : {"dtype", "op", "route", "level", "ranks", "nodes", "size_bytes", "m",
                          "nics_per_node", "nic_bytes_per_second", "algorithm"})
    for (const Json& odd : {Json(), Json(""), Json(-1), Json(0), Json(1e308), Json(true),
                            Json::array({1}), Json::object()})
      for (const char* probe : {"gemm", "collective", "copy", "network"}) {
        const Json gate = {{"metric", "throughput"}, {"min", 1e-300}, {"where", {{key, odd}}}};
        Json other = gate;
        other["metric"] = std::string(probe) == "collective" ? "busbw" : "bandwidth";
        CHECK_NOTHROW(kind_of(suite_with(probe, kLarge, gate)));
        CHECK_NOTHROW(kind_of(suite_with(probe, kLarge, other), ""));
      }
}
