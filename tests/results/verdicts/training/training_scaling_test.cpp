// Efficiencies t1 / (n tn) and their intervals.
#include "results/verdicts/training/training_scaling.h"

#include <cmath>

#include "results/verdicts/training/training_report.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

struct MadePoint {
  int ranks;
  std::int64_t batch;
  std::vector<double> rates;
};

TrainingReport scaled(const std::vector<MadePoint>& points) {
  TrainingFixture fixture;
  for (const MadePoint& point : points)
    for (std::size_t i = 0; i < point.rates.size(); ++i)
      fixture.add({.seed = i + 1,
                   .seconds = 1e6 / point.rates[i],
                   .rate = point.rates[i],
                   .ranks = point.ranks,
                   .batch = point.batch});
  return make_training_report(std::vector<RunRecords>{fixture.records()});
}

}  // namespace

TEST_CASE("strong scaling: the same batch on more ranks, with intervals over runs") {
  const auto report = scaled({{1, 32, {100.0, 101.0, 99.0}}, {2, 32, {180.0, 181.0, 179.0}}});
  REQUIRE(report.scalings.size() == 1);
  const Scaling& scaling = report.scalings[0];
  CHECK_FALSE(scaling.weak);
  CHECK(scaling.base == 1);
  REQUIRE(scaling.points.size() == 2);
  CHECK(scaling.points[0].efficiency == Approx(1.0));
  CHECK(std::isnan(scaling.points[0].low));
  const ScalingPoint& two = scaling.points[1];
  CHECK(two.efficiency == Approx(0.9).epsilon(1e-3));
  CHECK(two.low < 0.9);
  CHECK(two.low > 0.87);
  CHECK(two.high > 0.9);
  CHECK(two.time_efficiency == Approx(0.9).epsilon(1e-3));
  CHECK_THAT(scaling.interval, Contains("Welch"));
}

TEST_CASE("weak scaling: a batch that grows with the ranks") {
  const auto report = scaled({{2, 64, {190.0}}, {1, 32, {100.0}}, {4, 128, {360.0}}});
  REQUIRE(report.scalings.size() == 1);
  CHECK(report.scalings[0].weak);
  CHECK(report.scalings[0].points[2].ranks == 4);
  CHECK(report.scalings[0].points[2].efficiency == Approx(0.9));
  CHECK_THAT(report.scalings[0].interval, Contains("single runs"));
}

TEST_CASE("scaling without a one-rank run is relative to the fewest ranks") {
  const auto report = scaled({{2, 32, {200.0}}, {8, 32, {640.0}}});
  CHECK(report.scalings[0].base == 2);
  CHECK(report.scalings[0].points[1].efficiency == Approx(0.8));
}

TEST_CASE("equal rank counts or untimed runs give no scaling") {
  CHECK(scaled({{1, 32, {100.0}}, {1, 64, {100.0}}}).scalings.empty());
  TrainingFixture fixture;
  fixture.add({.gap = 0.2}).add({.seed = 2, .ranks = 2});  // the first is invalid
  CHECK(make_training_report(std::vector<RunRecords>{fixture.records()}).scalings.empty());
}

TEST_CASE("time efficiency has an interval if both means have one") {
  const auto report =
      scaled({{1, 32, {100.0, 101.0, 99.0, 102.0}}, {2, 32, {180.0, 181.0, 179.0, 182.0}}});
  const ScalingPoint& two = report.scalings[0].points[1];
  CHECK(two.time_low < two.time_efficiency);
  CHECK(two.time_high > two.time_efficiency);
  const auto three = scaled({{1, 32, {100.0, 101.0, 99.0}}, {2, 32, {180.0, 181.0, 179.0}}});
  CHECK(std::isnan(three.scalings[0].points[1].time_low));
}
