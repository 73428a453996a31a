#include "runner/hardware/device_limits.h"

#include "tests/runner/shipped_catalogue.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

Json h200() {
  return {{"name", "NVIDIA H200"},
          {"memory_bytes", 150e9},
          {"multiprocessors", 132},
          {"clock_hz", 1.98e9}};
}

Job job_of(const std::string& probe, const Json& params) {
  Job job;
  job.probe = probe;
  job.params = params;
  job.hosts = {"node01"};
  job.ranks = 8;
  return job;
}

TEST_CASE("each dtype of a product has its own limit") {
  const auto limits = device_limits(shipped_catalogue(), device_facts_from(h200()),
                                    job_of("gemm", {{"dtypes", {"bf16", "fp8_e4m3"}}}));
  REQUIRE(limits.size() == 2);
  CHECK(limits[0].metric == "throughput");
  CHECK(limits[0].params == Json{{"dtype", "bf16"}});
  CHECK(limits[0].limit.value > 0.9e15);
  CHECK(limits[1].limit.value == Approx(2 * limits[0].limit.value).epsilon(0.01));
}

TEST_CASE("memory bounds only what does not fit a cache") {
  const auto limits = device_limits(shipped_catalogue(), device_facts_from(h200()),
                                    job_of("memory_bandwidth", Json::object()));
  REQUIRE(limits.size() == 2);
  CHECK(limits[0].params == Json{{"level", "memory"}});
  CHECK(limits[0].limit.value == Approx(4.8e12).epsilon(0.05));
}

TEST_CASE("a copy's limit follows the links reported by the rank") {
  Json facts = h200();
  facts.update(
      Json{{"pcie_generation", 5}, {"pcie_lanes", 8}, {"pcie_generation_now", 1}, {"nvlinks", 18}});
  const Job job = job_of("copy", {{"routes", {"device_to_host", "peer_write"}}});
  const auto limits = device_limits(shipped_catalogue(), device_facts_from(facts), job);
  REQUIRE(limits.size() == 2);
  CHECK(limits[0].params == Json{{"route", "device_to_host"}});
  CHECK(limits[0].limit.value < 30e9);
  CHECK(limits[0].limit.source.find("the product supports 5 x16") != std::string::npos);
  CHECK(limits[1].limit.value == 450e9);
  CHECK(limits[1].limit.kind == LimitKind::proven);
}

TEST_CASE("implausible link reports are ignored") {
  const DeviceFacts odd = device_facts_from({{"pcie_generation", "5"},
                                             {"pcie_lanes", -8},
                                             {"pcie_slowest", 3},
                                             {"nvlinks", -1},
                                             {"c2c_links", 1e300},
                                             {"c2c_bytes_per_second", 0}});
  CHECK_FALSE(odd.pcie_generation);
  CHECK_FALSE(odd.pcie_lanes);
  CHECK(odd.pcie_slowest.empty());
  CHECK_FALSE(odd.links);
  CHECK_FALSE(odd.c2c_links);
  CHECK_FALSE(odd.c2c_bytes_per_second);
  CHECK(device_facts_from({{"nvlinks", 0}}).links == 0);
}

TEST_CASE("an unknown product has no limit, and invalid facts are ignored") {
  const Job job = job_of("gemm", {{"dtypes", {"bf16"}}});
  CHECK(
      device_limits(shipped_catalogue(), device_facts_from({{"name", "A toaster"}}), job).empty());
  CHECK(device_limits(shipped_catalogue(), device_facts_from(Json::array()), job).empty());
  const DeviceFacts odd = device_facts_from(
      {{"name", 7}, {"memory_bytes", "much"}, {"multiprocessors", -3}, {"clock_hz", 1e300}});
  CHECK(odd.name.empty());
  CHECK_FALSE(odd.memory_bytes);
  CHECK_FALSE(odd.multiprocessors);
}

}  // namespace
}  // namespace bench
