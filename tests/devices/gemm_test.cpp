#include "devices/gemm.h"

#include "tests/support/catch.h"
#include "tests/support/fake_gemm.h"

namespace bench {
namespace {

TEST_CASE("gemm reports operations per second against the peak of the run at the clock beside it") {
  GemmJob job;
  job.job.limits = {
      {"per_cycle", {{"dtype", "f32"}, {"isa", "best"}}, {64.0, LimitKind::measured, "peak"}}};
  CHECK(job.run().status == Status::ok);
  const Samples s = job.series("throughput");
  CHECK(s.values.at(0) == Approx(2.0 * 8 * 8 * 8 / 1e-3));
  REQUIRE(s.limit);
  CHECK(s.limit->value == Approx(64.0 * kGemmClock));
  CHECK(s.limit->kind == LimitKind::measured);
  CHECK(s.check->passed());
  const Samples rate = job.series("per_cycle");
  CHECK(rate.values.at(0) == Approx(2.0 * 8 * 8 * 8 / (1e-3 * kGemmClock)));
  CHECK(rate.limit->value == 64.0);
}

TEST_CASE("gemm says what it measured") {
  GemmJob job;
  job.run();
  const Json params = job.series("throughput").params;
  CHECK(params == Json{{"dtype", "f32"},
                       {"m", 8},
                       {"n", 8},
                       {"k", 8},
                       {"threads", 1},
                       {"isa", "best"},
                       {"library", "fake"},
                       {"implementation", "three loops"},
                       {"packed", false}});
}

TEST_CASE("gemm has no limit where the run measured no peak") {
  GemmJob job;
  job.run();
  CHECK_FALSE(job.series("throughput").limit);
}

TEST_CASE("gemm counts int8 in OP/s and verifies it exactly") {
  GemmJob job(Json{{"dtypes", {"int8"}}});
  CHECK(job.run().status == Status::ok);
  CHECK(job.series("throughput").unit == Unit::op_per_second);
  CHECK(job.series("throughput").check->method == "exact integers");
}

TEST_CASE("a wrong element of the timed product is found for every dtype") {
  for (const char* dtype : {"f64", "f32", "bf16", "int8"}) {
    INFO(dtype);
    GemmJob job(Json{{"dtypes", {dtype}}});
    job.fake.fault = GemmFault::sign_of_timed;
    CHECK(job.run().status == Status::invalid);
  }
}

TEST_CASE("a product that differs in one bit when repeated is found") {
  GemmJob job;
  job.fake.fault = GemmFault::last_bit_now_and_then;
  CHECK(job.run().status == Status::invalid);
  CHECK(job.series("throughput").check->method == "bitwise repeatability");
}

TEST_CASE("a product that is off by one bit each time is found by exact integers") {
  GemmJob job;
  job.fake.fault = GemmFault::last_bit_always;
  CHECK(job.run().status == Status::invalid);
  CHECK(job.series("throughput").check->method == "exact integers");
}

TEST_CASE("an element that nobody wrote is found") {
  GemmJob job;
  job.fake.fault = GemmFault::unwritten;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("fp8 says where its sums were kept in fewer bits, others never did") {
  GemmJob fast(Json{{"fast_accumulation", true}, {"dtypes", {"fp8_e4m3", "f32"}}});
  CHECK(fast.run().status == Status::ok);
  const auto series = fast.of("throughput");
  CHECK(series[0].params["fast_accumulation"] == true);
  CHECK_FALSE(series[1].params.contains("fast_accumulation"));
  CHECK(fast.hashes()[0]["key"]["fast_accumulation"] == true);
  CHECK_FALSE(fast.hashes()[1]["key"].contains("fast_accumulation"));
}

TEST_CASE("a product of zeros says so, and ordinary ones do not") {
  GemmJob zeros(Json{{"values", "zeros"}, {"dtypes", {"f32", "int8"}}});
  CHECK(zeros.run().status == Status::ok);
  for (const Samples& s : zeros.of("throughput")) {
    CHECK(s.params["values"] == "zeros");
    CHECK(s.check->method == "all bits zero");
  }
  GemmJob random;
  random.run();
  CHECK_FALSE(random.series("throughput").params.contains("values"));
}

TEST_CASE("the product of zeros is still looked at: a flipped sign, a last bit, an unwritten one") {
  for (const GemmFault fault :
       {GemmFault::sign_of_timed, GemmFault::last_bit_always, GemmFault::unwritten})
    for (const char* dtype : {"f32", "int8"}) {
      GemmJob job(Json{{"values", "zeros"}, {"dtypes", {dtype}}});
      job.fake.fault = fault;
      CHECK(job.run().status == Status::invalid);
      CHECK(job.series("throughput").check->method == "all bits zero");
    }
}

TEST_CASE(
    "block-scaled products are measured with their scales, and a library that forgets them is "
    "found") {
  for (const char* dtype : {"mxfp8", "nvfp4"}) {
    INFO(dtype);
    const Json params = {{"dtypes", {dtype}}, {"shapes", {{8, 8, 64}}}};
    GemmJob job(params);
    CHECK(job.run().status == Status::ok);
    CHECK(job.series("throughput").check->method == "Freivalds");
    GemmJob forgetful(params);
    forgetful.fake.fault = GemmFault::scales_ignored;
    CHECK(forgetful.run().status == Status::invalid);
  }
}

TEST_CASE("a library that cannot do it skips the series, with its reason") {
  GemmJob job;
  job.fake.reason = "no such product";
  CHECK(job.run().status == Status::skipped);
  CHECK(job.series("throughput").reason == "no such product");
}

TEST_CASE("gemm skips on a device without matrix libraries") {
  GemmJob job;
  job.device.fake_gemm = nullptr;
  CHECK(job.run().status == Status::skipped);
}

}  // namespace
}  // namespace bench
