// What a device costs, and what a comparison and a ladder make of it.
#include <cmath>

#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/compare_output.h"
#include "results/output/verdicts/ladder_output.h"
#include "results/verdicts/compare/ladder.h"
#include "tests/results/compare_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/occurrences.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Contains;

namespace {

Side side_on(const std::string& product, const std::vector<double>& values,
             const MetricKey& key = rate_key()) {
  Side side = side_of(values, key);
  side.configurations[0] = {{"gpu.0.name", product}};
  return side;
}

const Prices kPrices = {{"h100", 2.0}, {"h100-sxm", 2.5}, {"H200", 5.0}};

MetricKey time_key() {
  MetricKey key = rate_key("training.time_to_target");
  key.unit = Unit::second;
  key.better = Better::lower;
  return key;
}

/// Three steps of a training, of which the second is faster for no more money.
Ladder three_steps() {
  const auto step = [](const std::string& product, double value) {
    return side_on(product, {value, value * 1.001, value * 0.999, value * 1.002}, time_key());
  };
  std::vector<Side> sides = {step("NVIDIA H100 PCIe", 3600), step("NVIDIA H100 PCIe", 1800),
                             step("NVIDIA H200", 1200)};
  for (std::size_t i = 0; i < sides.size(); ++i)
    sides[i].name = std::vector<std::string>{"baseline", "bf16", "<b>h200</b>"}[i];
  set_prices(sides, kPrices);
  return make_ladder(sides, {});
}

}  // namespace

TEST_CASE("the longest matching product name sets the price") {
  std::vector<Side> sides = {side_on("NVIDIA H100 80GB HBM3 SXM5", kBefore),
                             side_on("NVIDIA H100 PCIe", kAfter), side_on("NVIDIA A100", kAfter)};
  set_prices(sides, kPrices);
  CHECK(sides[0].price == 2.5);
  CHECK(sides[1].price == 2.0);
  CHECK_FALSE(sides[2].price);
  // Of a side with two products neither is taken.
  sides[0].configurations[1] = {{"gpu.0.name", "NVIDIA H200"}};
  set_prices(sides, kPrices);
  CHECK_FALSE(sides[0].price);
}

TEST_CASE("no per-dollar comparison for one product; a missing price is reported") {
  std::vector<Side> same = {side_on("NVIDIA H100", kBefore), side_on("NVIDIA H100", kAfter)};
  set_prices(same, kPrices);
  CHECK_FALSE(same[0].price);
  std::vector<Side> other = {side_on("NVIDIA H100", kBefore), side_on("NVIDIA H200", kAfter)};
  set_prices(other, kPrices);
  const Comparison priced = compare(other[0], other[1]);
  CHECK(priced.metrics[0].per_dollar == Approx(0.98 * 2.0 / 5.0).epsilon(0.01));
  CHECK_THAT(to_text(priced, {}), Contains("2 in A, 5 in B (dollars per device-hour)"));
  CHECK(to_json(priced)["price_b"] == 5.0);
  std::vector<Side> half = {side_on("NVIDIA H100", kBefore), side_on("NVIDIA A100", kAfter)};
  set_prices(half, kPrices);
  const Comparison unpriced = compare(half[0], half[1]);
  CHECK(std::isnan(unpriced.metrics[0].per_dollar));
  CHECK_THAT(to_text(unpriced, {}), Contains("only A has a price"));
}

TEST_CASE("each ladder step uses the price of its own product") {
  const Ladder ladder = three_steps();
  REQUIRE(ladder.metrics.size() == 1);
  const auto& steps = ladder.metrics[0].steps;
  CHECK(steps[0].cost == Approx(2.0).epsilon(0.01));
  CHECK(steps[1].cost == Approx(1.0).epsilon(0.01));
  CHECK(steps[2].cost == Approx(5.0 / 3.0).epsilon(0.01));
  CHECK(to_json(ladder)["ladder"][0]["steps"][2]["price"] == 5.0);
}

TEST_CASE("the ladder page draws both speedups of each step and escapes names") {
  const std::string page = to_page(to_document(three_steps()));
  CHECK(occurrences(page, "<circle") == 5);  // three so far, two of a step
  CHECK(page.find("<b>h200") == std::string::npos);
  CHECK_THAT(page, Contains("&lt;b&gt;h200") && Contains("x 3.000"));
  CHECK_THAT(
      to_page(to_document(make_ladder({side_of(kBefore), side_of(kAfter, rate_key("other"))}, {}))),
      Contains("no metric with the same parameters"));
}

TEST_CASE("the ladder in Markdown has the speedup, cost and verdict of each step") {
  const std::string text = to_markdown(to_document(three_steps()));
  CHECK_THAT(text, Contains("# Ladder") && Contains("| step | name | value |"));
  CHECK_THAT(text, Contains("x 3.000") && Contains("**improved**"));
}
