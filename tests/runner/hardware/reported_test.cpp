#include "runner/hardware/device_limits.h"
#include "tests/runner/shipped_catalogue.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

std::string on_h200(const std::string& metric, const Json& params) {
  return reached_by_others(*shipped_catalogue().find("h200-sxm-141gb"), metric, params);
}

TEST_CASE("the highest published result is reported with its source") {
  CHECK(on_h200("gemm.throughput", {{"dtype", "bf16"}}) ==
        "others reached 794.5 TFLOP/s (stas00/ml-engineering, compute/accelerator)");
  CHECK_THAT(on_h200("gemm.throughput", {{"dtype", "fp8_e4m3"}}),
             Contains("1.453 PFLOP/s") && !Contains("1.366"));
}

TEST_CASE("unspecified parameters are listed separately") {
  const std::string memory = on_h200("memory_bandwidth.bandwidth", Json::object());
  CHECK_THAT(memory, Contains("kernel copy 4.010 TB/s") && Contains("kernel triad 4.150 TB/s") &&
                         Contains("kernel read 4.480 TB/s") && !Contains("3.110"));
}

TEST_CASE("thresholds, doubtful values, other parameters and unknown metrics are not results") {
  CHECK(on_h200("copy.bandwidth", {{"route", "peer_write"}}).empty());  // a threshold alone
  CHECK(on_h200("copy.bandwidth", {{"route", "peer_read"}}).empty());   // doubted
  CHECK(on_h200("gemm.throughput", {{"dtype", "f64"}}).empty());
  const Json four = {{"op", "all_reduce"}, {"ranks", 4}, {"nodes", 1}};
  CHECK(on_h200("collective.busbw", four).empty());
  CHECK(on_h200("no.metric", Json::object()).empty());
}

TEST_CASE("a job's limit includes published results") {
  Job job;
  job.probe = "gemm";
  job.params = {{"dtypes", {"bf16", "f64"}}};
  job.hosts = {"node01"};
  const auto limits =
      device_limits(shipped_catalogue(),
                    device_facts_from({{"name", "NVIDIA H200"}, {"memory_bytes", 150e9}}), job);
  REQUIRE(limits.size() == 2);
  CHECK_THAT(limits[0].limit.source, Contains("; others reached 794.5 TFLOP/s"));
  CHECK_THAT(limits[1].limit.source, !Contains("others reached"));
}

}  // namespace
}  // namespace bench
