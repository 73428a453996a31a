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

TEST_CASE("work per watt and per dollar inverts times") {
  MetricKey time = rate_key("x.time");
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
