#include "results/output/verdicts/compare_output.h"

#include <cmath>

#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/ladder_output.h"
#include "results/verdicts/compare/ladder.h"
#include "tests/results/compare_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Contains;

TEST_CASE("differing software, settings and hardware are listed, parts only for the same host") {
  Side a = side_of(kBefore), b = side_of(kAfter);
  a.configurations[0] = {{"gpu.0.name", "NVIDIA H100"},
                         {"library.nccl", "2.18"},
                         {"product_serial", "A"},
                         {"setting.packed", "true"}};
  b.configurations[0] = {{"gpu.0.name", "NVIDIA H200"},
                         {"library.nccl", "2.21"},
                         {"product_serial", "B"},
                         {"setting.packed", "false"}};
  const Comparison same_host = compare(a, b);
  CHECK(same_host.facts.size() == 3);
  CHECK(same_host.hardware_a == "NVIDIA H100");
  REQUIRE(same_host.metrics[0].changed_settings.size() == 1);
  CHECK(same_host.metrics[0].changed_settings[0].fact == "setting.packed");
  b.metrics[rate_key()] = {{{"n2", "host"}, b.metrics[rate_key()].begin()->second}};
  for (const ChangedFact& fact : compare(a, b).facts) CHECK(fact.change.fact != "product_serial");
  CHECK_THAT(to_text(compare(a, b), {}), Contains("NVIDIA H100 in A, NVIDIA H200 in B"));
}

TEST_CASE("rows that differ only in the number of ranks name it") {
  MetricKey few = rate_key("mlperf.time_to_train"), many = few;
  few.ranks = 8;
  many.ranks = 512;
  Side a = side_of(kBefore, few), b = side_of(kAfter, few);
  a.metrics.merge(side_of(kBefore, many).metrics);
  b.metrics.merge(side_of(kAfter, many).metrics);
  const std::string both = to_text(compare(a, b), {});
  CHECK_THAT(both, Contains("m 512, ranks 8 ") && Contains("m 512, ranks 512 "));
  b.metrics.erase(many);
  const std::string one = to_text(compare(a, b), {});
  CHECK_THAT(one, !Contains("ranks 8") && Contains("mlperf.time_to_train (m 512, ranks 512)"));
}

TEST_CASE("work per watt and per dollar inverts times") {
  MetricKey time = rate_key("training.step_time");
  time.unit = Unit::second;
  time.better = Better::lower;
  Side a = side_of({2, 2, 2, 2}, time), b = side_of({1, 1, 1, 1}, time);
  for (auto& point : a.metrics[time].begin()->second) point.power_w = 100;
  for (auto& point : b.metrics[time].begin()->second) point.power_w = 400;
  a.price = 1.0;
  b.price = 4.0;
  const ComparedMetric found = only_metric(a, b);
  CHECK(found.per_watt == Approx(0.5));
  CHECK(found.per_dollar == Approx(0.5));
}

TEST_CASE("prices and watts apply to rates and times of work only") {
  MetricKey key = rate_key("memory_latency.latency");
  const auto priced = [&](Unit unit, Better better) {
    key.unit = unit;
    key.better = better;
    Side a = side_of(kBefore, key), b = side_of(kAfter, key);
    a.price = 1.0;
    b.price = 4.0;
    return only_metric(a, b);
  };
  CHECK(std::isnan(priced(Unit::second, Better::lower).per_dollar));
  CHECK(std::isnan(priced(Unit::ratio, Better::higher).per_dollar));
  CHECK(std::isnan(priced(Unit::count, Better::higher).per_dollar));
  CHECK(std::isfinite(priced(Unit::byte_per_second, Better::higher).per_dollar));
  key.metric = "training.items_per_second";
  CHECK(std::isfinite(priced(Unit::count, Better::higher).per_dollar));
}

TEST_CASE("a geometric mean covers one class of metric, each measurement once") {
  Comparison comparison;
  const auto add = [&](const std::string& metric, Unit unit, Better better, double ratio,
                       const std::string& over = "rank") {
    ComparedMetric one{.key = rate_key(metric), .resource = resource_of(metric), .ratio = ratio};
    one.key.unit = unit;
    one.key.better = better;
    one.key.over = over;
    comparison.metrics.push_back(std::move(one));
  };
  add("gemm.throughput", Unit::flop_per_second, Better::higher, 2.0);
  add("clock.frequency", Unit::hertz, Better::higher, 1.0);
  add("collective.busbw", Unit::byte_per_second, Better::higher, 4.0);
  add("collective.busbw", Unit::byte_per_second, Better::higher, 4.0, "host");
  add("collective.algbw", Unit::byte_per_second, Better::higher, 4.0);  // derived from busbw
  add("copy.bandwidth", Unit::byte_per_second, Better::higher, 1.0);
  const auto found = resource_ratios(comparison);
  REQUIRE(found.size() == 3);
  CHECK(found[0].ratio == Approx(2.0));
  CHECK(found[1].unit == Unit::hertz);
  CHECK(found[2].metrics == 2);
  CHECK(found[2].ratio == Approx(2.0));  // of 4 and 1
  CHECK(follows(2.9, {{Resource::compute, 1, 3.0, "cuda", Unit::hertz},
                      {Resource::memory, 1, 2.8}}) == "memory");
}

TEST_CASE("hosts that changed by themselves are shown, in JSON by its schema") {
  Side a{.name = "a"}, b{.name = "b"};
  for (int host = 0; host < 12; ++host) {
    const UnitOfHost unit{"n" + std::to_string(host), "host"};
    a.metrics[rate_key()][unit] = {value_point(100.0 + 0.1 * host)};
    b.metrics[rate_key()][unit] = {
        value_point((100.0 + 0.1 * host) * (host == 3 ? 0.95 : 1.0) * (1.0 + 0.001 * (host % 5)))};
  }
  const Comparison found = compare(a, b);
  const Json json = to_json(found);
  CHECK_NOTHROW(Schema::load("schemas/compare.json").check(json, "compare"));
  REQUIRE(json["metrics"][0]["hosts"].size() == 1);
  CHECK(json["metrics"][0]["hosts"][0]["host"] == "n3");
  CHECK(json["metrics"][0]["verdict"] == "changed");
  CHECK(json["exit_code"] == 1);
  const std::string text = to_text(found, {});
  CHECK_THAT(text, Contains("Hosts that changed by themselves"));
  CHECK_THAT(text, Contains("REGRESSED"));
}

TEST_CASE("a workload scales with the resource that gained as much") {
  const std::vector<ResourceRatio> resources = {{Resource::compute, 3, 1.0},
                                                {Resource::memory, 3, 1.43}};
  CHECK(follows(1.4, resources) == "memory");
  CHECK(follows(1.02, resources) == "compute");
  CHECK(follows(1.2, resources).empty());  // half way
  CHECK(follows(1.2, {}).empty());
}

TEST_CASE("the JSON of a comparison fits its schema") {
  const Side a = side_of(kBefore), b = side_of(kAfter);
  const Json json = to_json(compare(a, b));
  CHECK_NOTHROW(Schema::load("schemas/compare.json").check(json, "compare"));
  CHECK(json["metrics"][0]["verdict"] == "regressed");
  CHECK(json["metrics"][0]["n_needed"].is_null());
  CHECK_NOTHROW(
      Schema::load("schemas/compare.json").check(to_json(make_ladder({a, b, a}, {})), "compare"));
}

TEST_CASE("a ladder compares each step with the previous one and the first") {
  MetricKey rate = rate_key("training.items_per_second");
  MetricKey two = rate;
  two.ranks = 2;
  const auto step = [](double value, const MetricKey& key) {
    return side_of({value, value * 1.001, value * 0.999, value * 1.002}, key);
  };
  const Ladder ladder = make_ladder({step(100, rate), step(200, rate), step(380, two)}, {});
  REQUIRE(ladder.metrics.size() == 1);
  const auto& steps = ladder.metrics[0].steps;
  REQUIRE(steps.size() == 3);
  CHECK(std::isnan(steps[0].individual.ratio));
  CHECK(steps[1].individual.ratio == Approx(2.0));
  CHECK(steps[2].individual.ratio == Approx(1.9));
  CHECK(steps[2].cumulative.ratio == Approx(3.8));
  CHECK(steps[2].individual.verdict == ChangeVerdict::improved);
  CHECK(steps[2].ranks == 2);
  CHECK(steps[2].relative_cost == Approx(2.0 / 3.8));
  CHECK(ladder.exit_code() == ExitCode::ok);
  CHECK(make_ladder({step(100, rate), step(50, rate)}, {}).exit_code() == ExitCode::failed);
}

TEST_CASE("the comparison page shows every metric and escapes hostile names") {
  const MetricKey key = rate_key("<script>alert(1)</script>");
  const std::string page =
      to_page(to_document(compare(side_of(kBefore, key), side_of(kAfter, key))));
  CHECK(page.find("alert(1)") != std::string::npos);
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("<svg") != std::string::npos);
  CHECK(page.find("regressed") != std::string::npos);
}

TEST_CASE("a comparison in Markdown has both sides, every metric and the counts") {
  const std::string text = to_markdown(to_document(compare(side_of(kBefore), side_of(kAfter))));
  CHECK_THAT(text, Contains("# Comparison") && Contains("- A: ") && Contains("- B: "));
  CHECK_THAT(text, Contains("## Metrics") && Contains("**REGRESSED**"));
  CHECK_THAT(text, Contains("1 metrics: 1 regressed"));
}
