#include "results/verdicts/compare/roofline.h"

#include <algorithm>
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

namespace {

void add_operator(Side& side, const char* name, int threads, const char* level, double seconds,
                  double flops, double bytes) {
  const Json params = {{"operator", name}, {"pass", "forward"},  {"dtype", "f32"},
                       {"rows", 64},       {"threads", threads}, {"level", level}};
  add_rate(side, "operators.time", params, seconds);
  if (flops > 0.0) add_rate(side, "operators.throughput", params, flops / seconds);
  add_rate(side, "operators.traffic", params, bytes / seconds);
}

/// GEMMs of 100 GFLOP/s, caches of 200 and memory of 20 GB/s.
Side measured_side() {
  Side side{.name = "run"};
  add_rate(side, "gemm.throughput", product("f32", 1024, 2), 100e9);
  add_rate(side, "gemm.throughput", product("f32", 1024, 4), 190e9);
  for (const auto& [level, bandwidth] : {std::pair{"L2", 200e9}, std::pair{"memory", 20e9}})
    add_rate(side, "memory_bandwidth.traffic",
             {{"kernel", "read"}, {"level", level}, {"threads", 2}}, bandwidth);
  add_rate(side, "memory_bandwidth.traffic", {{"kernel", "read"}, {"level", "L2"}, {"threads", 1}},
           150e9);
  return side;
}

const OperatorPoint& operator_named(const Roofline& roofline, const std::string& name) {
  const auto found = std::ranges::find(roofline.operators, name, &OperatorPoint::name);
  REQUIRE(found != roofline.operators.end());
  return *found;
}

}  // namespace

TEST_CASE("an operator is placed under the GEMM peak and the bandwidth of its level") {
  Side side = measured_side();
  add_operator(side, "linear", 2, "L2", 0.02, 1e9, 1e6);     // at 50 of 100 GFLOP/s
  add_operator(side, "norm", 2, "L2", 1e-3, 1e6, 50e6);      // at 50 of 200 GB/s
  add_operator(side, "lookup", 2, "memory", 1e-3, 0, 15e6);  // at 15 of 20 GB/s, without FLOPs
  add_operator(side, "slower", 1, "L2", 1e-3, 0, 1e6);       // on fewer threads
  add_operator(side, "elsewhere", 2, "L3", 1e-3, 0, 1e6);    // a level that was not measured
  add_rate(side, "operators.memory",
           {{"operator", "norm"}, {"pass", "forward"}, {"dtype", "f32"}, {"rows", 64}}, 4096);
  const Roofline roofline = roofline_of(side, "host");
  REQUIRE(roofline.operators.size() == 4);
  REQUIRE(roofline.levels.size() == 2);
  CHECK(roofline.levels[0].level == "L2");
  CHECK(roofline.levels[0].bandwidth == 200e9);
  const OperatorPoint& linear = operator_named(roofline, "linear forward");
  CHECK(linear.of_roof == Approx(0.5));
  CHECK_FALSE(linear.by_memory);
  CHECK(linear.intensity == Approx(1000.0));
  const OperatorPoint& norm = operator_named(roofline, "norm forward");
  CHECK(norm.of_roof == Approx(0.25));
  CHECK(norm.by_memory);
  CHECK(norm.memory == 4096.0);
  CHECK(norm.shape == "rows 64");
  const OperatorPoint& lookup = operator_named(roofline, "lookup forward");
  CHECK(lookup.of_roof == Approx(0.75));
  CHECK(std::isnan(lookup.intensity));
  CHECK(std::isnan(operator_named(roofline, "elsewhere forward").of_roof));
  CHECK_NOTHROW(
      Schema::load("schemas/report_roofline.json").check(to_json({roofline}), "roofline"));
  const std::string text = to_terminal(to_document(std::vector<Roofline>{roofline}), {});
  CHECK(text.find("75.0 %") != std::string::npos);
  CHECK(text.find("rows 64") != std::string::npos);  // equal operators differ by their shapes
  CHECK(text.find("slower") == std::string::npos);
}
