#include "tests/probes/fake_memory.h"
#include "tests/support/catch.h"
#include "tests/support/fake_gemm.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

Json small(Json params) {
  params["dtype"] = "f32";
  params["shape"] = {8, 8, 8};
  return params;
}

struct BurnJob : ProbeJob {
  FakeGemm gemm{device};
  FakeMemory memory{device};

  explicit BurnJob(const Json& params) : ProbeJob("burn", small(params)) {
    device.fake_gemm = &gemm;
    device.fake_memory = &memory;
  }
};

TEST_CASE("each round measures each load, and the last is compared with the first") {
  BurnJob job(Json{{"rounds", 3}});
  CHECK(job.run().status == Status::ok);
  const auto products = job.of("gemm_rate");
  REQUIRE(products.size() == 3);
  CHECK(products[2].params == Json{{"round", 3}});
  CHECK(products[0].values.at(0) == Approx(2.0 * 8 * 8 * 8 / 1e-3));
  CHECK(products[0].check->method == "bitwise equality with the first GEMM");
  CHECK(job.of("memory_rate").size() == 3);
  const auto sustained = job.of("sustained_ratio");
  REQUIRE(sustained.size() == 2);
  CHECK(sustained[0].values.at(0) == Approx(1.0));
}

TEST_CASE("a product that changes in one bit ends burn as invalid") {
  BurnJob job(Json{{"rounds", 5}, {"loads", {"gemm"}}});
  job.gemm.fault = GemmFault::last_bit_now_and_then;
  CHECK(job.run().status == Status::invalid);
  CHECK(job.of("gemm_rate").size() < 5);
  CHECK(job.of("sustained_ratio").empty());
}

TEST_CASE("one wrong product in a sample is found where the device compares all of them") {
  // Samples of eight products, so that the hundredth is not the last of one.
  for (const bool watches : {true, false}) {
    BurnJob job(Json{{"rounds", 2}, {"loads", {"gemm"}}});
    job.job.measure.min_sample_s = 0.008;
    job.gemm.fault = GemmFault::last_bit_once;
    job.gemm.watches = watches;
    CHECK(job.run().status == (watches ? Status::invalid : Status::ok));
    if (watches)
      CHECK_THAT(job.of("gemm_rate").back().reason,
                 Catch::Matchers::Contains("bitwise equality of every GEMM with the first"));
  }
}

TEST_CASE("a wrong first product is not used as the reference") {
  BurnJob job(Json{{"rounds", 2}, {"loads", {"gemm"}}});
  job.gemm.fault = GemmFault::sign_of_timed;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("wrong memory ends burn as invalid") {
  BurnJob job(Json{{"rounds", 2}});
  job.memory.error = 1.0;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("unsupported loads are skipped with the reason") {
  BurnJob job(Json{{"rounds", 1}, {"loads", {"gemm", "copy"}}});
  CHECK(job.run().status == Status::ok);
  CHECK(job.of("copy_rate").at(0).reason == "the device shares host memory: nothing to copy");
  BurnJob bare(Json{{"rounds", 1}});
  bare.device.fake_gemm = nullptr;
  bare.device.fake_memory = nullptr;
  CHECK(bare.run().status == Status::skipped);
}

TEST_CASE("a burn on more threads than cores is refused") {
  BurnJob job(Json{{"threads", 5}});
  CHECK_THROWS_AS(job.run(), Error);
}

}  // namespace
}  // namespace bench
