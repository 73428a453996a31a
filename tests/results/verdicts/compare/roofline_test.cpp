#include "results/verdicts/compare/roofline.h"

#include <cmath>

#include "core/schema.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/roofline_output.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

void add_rate(Side& side, const std::string& metric, const Json& params, double value,
              double of_limit = kNoValue) {
  const MetricKey key{.metric = metric,
                      .params = dump(params),
                      .device = "host",
                      .over = "rank",
                      .ranks = 1,
                      .unit = Unit::flop_per_second,
                      .better = Better::higher};
  side.metrics[key][{"n1", "host"}].push_back({.run = 1, .value = value, .of_limit = of_limit});
}

Json product(const char* dtype, int m, int threads, const char* values = "random") {
  return {{"dtype", dtype}, {"m", m}, {"n", m}, {"k", m}, {"threads", threads}, {"values", values}};
}

}  // namespace

TEST_CASE("a roof is the lower of peak and intensity times bandwidth") {
  Side side{.name = "run"};
  add_rate(side, "gemm.throughput", product("f32", 8, 2), 5e9, 0.05);
  add_rate(side, "gemm.throughput", product("f32", 1024, 2), 80e9, 0.8);
  add_rate(side, "gemm.throughput", product("f32", 512, 1), 50e9, 0.9);            // one thread
  add_rate(side, "gemm.throughput", product("f32", 256, 2, "zeros"), 99e9, 0.99);  // costs no power
  add_rate(side, "memory_bandwidth.bandwidth", {{"kernel", "read"}, {"level", "memory"}}, 20e9);
  add_rate(side, "memory_bandwidth.bandwidth", {{"kernel", "triad"}, {"level", "memory"}}, 10e9);
  add_rate(side, "memory_bandwidth.bandwidth", {{"kernel", "read"}, {"level", "L2"}}, 900e9);
  REQUIRE(roofline_devices(side) == std::vector<std::string>{"host"});
  const Roofline roofline = roofline_of(side, "host");
  CHECK(roofline.bandwidth == 20e9);
  CHECK(roofline.bandwidth_of == "read");
  REQUIRE(roofline.ceilings.size() == 1);
  CHECK(roofline.ceilings[0].measured == 80e9);
  CHECK(roofline.ceilings[0].limit == Approx(100e9));
  REQUIRE(roofline.points.size() == 2);
  // 2 x 8^3 operations over 3 x 8^2 x 4 bytes
  CHECK(roofline.points[0].intensity == Approx(1024.0 / 768.0));
  CHECK(roofline.points[0].by_memory);
  CHECK(roofline.points[0].roof == Approx(20e9 * 1024.0 / 768.0));
  CHECK_FALSE(roofline.points[1].by_memory);
  CHECK(roofline.points[1].roof == Approx(100e9));
  CHECK_NOTHROW(
      Schema::load("schemas/report_roofline.json").check(to_json({roofline}), "roofline"));
  CHECK(to_terminal(to_document(std::vector<Roofline>{roofline}), {})
            .find("f32 1024 x 1024 x 1024") != std::string::npos);
}

TEST_CASE("without a bandwidth there is no roof, with a reason") {
  Side side{.name = "run"};
  add_rate(side, "gemm.throughput", product("bf16", 512, 2), 80e9);
  const Roofline roofline = roofline_of(side, "host");
  CHECK_FALSE(roofline.lacking.empty());
  CHECK(std::isnan(roofline.ceilings.at(0).limit));
}

TEST_CASE("a GEMM moves both inputs and its result once, in bytes of their types") {
  CHECK(gemm_bytes(2, 3, 5, "f32") == 4.0 * (10 + 15 + 6));
  CHECK(gemm_bytes(2, 3, 5, "bf16") == 2.0 * (10 + 15 + 6));
  CHECK(gemm_bytes(2, 3, 5, "int8") == 10.0 + 15 + 4 * 6);
  CHECK(gemm_bytes(2, 3, 5, "fp8_e4m3") == 10.0 + 15 + 2 * 6);
  CHECK(std::isnan(gemm_bytes(2, 3, 5, "f17")));
}

TEST_CASE("two machines share one plot") {
  Side one{.name = "one"}, two{.name = "<two>"};
  for (Side* side : {&one, &two}) {
    add_rate(*side, "gemm.throughput", product("bf16", 512, 2), 80e9, 0.8);
    add_rate(*side, "memory_bandwidth.bandwidth", {{"kernel", "read"}, {"level", "memory"}}, 2e10);
  }
  const std::string page = to_page(
      to_document(std::vector<Roofline>{roofline_of(one, "host"), roofline_of(two, "host")}));
  CHECK(page.find("one bf16") != std::string::npos);
  CHECK(page.find("&lt;two&gt; bf16") != std::string::npos);
  CHECK(page.find("<two>") == std::string::npos);
}
