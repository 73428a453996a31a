#include "mlperf/rcp/rcp_set.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

struct BatchMean {
  double batch, mean;
};

RcpSet set_of(const std::vector<BatchMean>& points, double stdev = 0.5) {
  RcpSet set{.ruleset = "5.1.0", .benchmark = "a", .runs = 5, .unit = "epochs"};
  for (const BatchMean& at : points) {
    RcpPoint point{.name = "p", .batch = at.batch, .n = 10, .mean = at.mean, .stdev = stdev};
    set_minimum(point, set.runs, 8);
    set.points.push_back(point);
  }
  prune(set);
  return set;
}

std::vector<double> kept_batches(const RcpSet& set) {
  std::vector<double> batches;
  for (const RcpPoint& point : set.points)
    if (point.kept) batches.push_back(point.batch);
  return batches;
}

using Batches = std::vector<double>;

}  // namespace

TEST_CASE("a reference point slower than the line between its neighbours does not count") {
  CHECK(kept_batches(set_of({{128, 10}, {256, 20}, {512, 20}})) == Batches{128, 512});
  CHECK(kept_batches(set_of({{128, 10}, {256, 12}, {512, 20}})) == Batches{128, 256, 512});
}

TEST_CASE("reference points of batches below that of the fastest do not count") {
  CHECK(kept_batches(set_of({{64, 12}, {128, 10}, {256, 14}})) == Batches{128, 256});
  CHECK(kept_batches(set_of({{64, 10}, {128, 10}, {256, 14}})) == Batches{64, 128, 256});
}

TEST_CASE("pruning does not recheck the left neighbour of a removed point") {
  // 2 lies under the line from 1 to 3, but over that from 1 to 4 when 3 is gone.
  const std::vector<BatchMean> points = {{1, 10}, {2, 14}, {3, 19}, {4, 16}};
  CHECK(kept_batches(set_of(points)) == Batches{1, 2, 4});
}

TEST_CASE("a batch uses its own point, an interpolated one, or the smallest") {
  const RcpSet set = set_of({{128, 10}, {256, 14}});
  CHECK(reference_at(set, 128).match == RcpMatch::exact);
  CHECK(reference_at(set, 64).match == RcpMatch::below);
  CHECK(reference_at(set, 64).point->batch == 128);
  CHECK(reference_at(set, 300).match == RcpMatch::missing);
  CHECK_FALSE(reference_at(set, 300).point);
  CHECK(reference_at(RcpSet{}, 1).match == RcpMatch::none);
  const RcpReference between = reference_at(set, 192);
  CHECK(between.match == RcpMatch::interpolated);
  CHECK(between.point->mean == 12.0);
  CHECK(between.point->counted == 10);
  CHECK(between.point->minimum == Approx(exact_minimum(12.0, 0.5, 10, 5)).margin(1e-4));
}

TEST_CASE("a pruned point's batch is interpolated") {
  const RcpSet set = set_of({{128, 10}, {256, 20}, {512, 20}});
  const RcpReference at = reference_at(set, 256);
  CHECK(at.match == RcpMatch::interpolated);
  CHECK(at.point->mean == Approx(10 + 10.0 / 3));
}

TEST_CASE("a submission slightly faster than the reference is scaled to its mean") {
  const RcpSet set = set_of({{128, 16}, {256, 21}});
  const std::vector<double> runs = {14, 15.5, 15.75, 16, 20};
  const RcpTest test = rcp_test(set, 128, runs);
  CHECK(test.mean == 15.75);
  CHECK(test.pass);
  CHECK(test.factor == 16 / 15.75);
  CHECK(test.limit == Approx(set.points[0].minimum));
  CHECK(margin(test) == Approx(15.75 / test.limit - 1));
}

TEST_CASE("a submission as slow as the reference is not scaled, one far faster fails") {
  const RcpSet set = set_of({{128, 16}, {256, 21}});
  CHECK(rcp_test(set, 128, std::vector<double>(5, 16.0)).factor == 1.0);
  CHECK(rcp_test(set, 128, std::vector<double>(5, 17.0)).pass);
  const RcpTest fast = rcp_test(set, 128, std::vector<double>(5, 15.0));
  CHECK_FALSE(fast.pass);
  CHECK(fast.factor == 1.0);
  CHECK(fast.p < 0.05);
  CHECK(fast.why.find("the mean must be") != std::string::npos);
}

TEST_CASE("one run that did not converge is dropped as the slowest, two fail the test") {
  const RcpSet set = set_of({{128, 16}, {256, 21}});
  CHECK(rcp_test(set, 128, std::vector<double>{16, 16, 16, 16, HUGE_VAL}).mean == 16.0);
  const RcpTest two = rcp_test(set, 128, std::vector<double>{16, 16, 16, HUGE_VAL, HUGE_VAL});
  CHECK_FALSE(two.pass);
  CHECK(two.why == "2 of 5 runs did not converge, at most one is allowed");
  CHECK_FALSE(rcp_test(set, 128, std::vector<double>{16, 16}).pass);
}

TEST_CASE("a batch above all reference points, or none, fails with advice") {
  const RcpSet set = set_of({{128, 16}, {256, 21}});
  const RcpTest missing = rcp_test(set, 512, std::vector<double>(5, 30.0));
  CHECK_FALSE(missing.pass);
  CHECK(missing.why.find("larger than that of any reference point") != std::string::npos);
  CHECK_FALSE(rcp_test(set, kNoValue, std::vector<double>(5, 30.0)).pass);
}

TEST_CASE(
    "an allowance lets a faster mean pass, and the score is scaled to the full reference mean") {
  RcpSet set = set_of({{128, 16}, {256, 21}});
  set.allowance = 3.0;
  const RcpTest test = rcp_test(set, 128, std::vector<double>(5, 14.0));
  CHECK(test.pass);
  CHECK(test.limit == Approx(set.points[0].minimum - 3.0));
  CHECK(test.factor == 16.0 / 14.0);
}

TEST_CASE("JSON of the convergence test has null for missing numbers") {
  const Json json = to_json(rcp_test(set_of({{128, 16}}), 512, std::vector<double>(5, 30.0)));
  CHECK(json["match"] == "missing");
  CHECK(json["rcp_mean"].is_null());
  CHECK(json["margin"].is_null());
  CHECK(json["submission_mean"] == 30.0);
}

}  // namespace bench::mlperf
