#include "results/verdicts/compare/compare.h"

#include <algorithm>
#include <cmath>

#include "tests/results/compare_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

TEST_CASE("one interval has three verdicts by three thresholds") {
  const Side a = side_of(kBefore), b = side_of(kAfter);
  const ComparedMetric one = only_metric(a, b, {.threshold = 0.01});
  CHECK(one.verdict == ChangeVerdict::regressed);
  CHECK(one.basis == Basis::runs);
  CHECK(one.ratio == Approx(0.9804908388198127).epsilon(1e-12));
  CHECK(one.low == Approx(0.9702675916749252).epsilon(1e-12));
  CHECK(one.high == Approx(0.9899799599198399).epsilon(1e-12));
  CHECK(one.p == Approx(4.0 / 924.0).epsilon(1e-12));
  CHECK_FALSE(one.n_needed);
  CHECK(only_metric(a, b, {.threshold = 0.02}).verdict == ChangeVerdict::changed);
  CHECK_THAT(only_metric(a, b, {.threshold = 0.02}).why, Contains("2 %"));
  CHECK(only_metric(a, b, {.threshold = 0.05}).verdict == ChangeVerdict::equivalent);
}

TEST_CASE("a time that falls is an improvement, and a metric without direction changes") {
  MetricKey time = rate_key("null.time");
  time.better = Better::lower;
  CHECK(only_metric(side_of(kBefore, time), side_of(kAfter, time)).verdict ==
        ChangeVerdict::improved);
  time.better = Better::none;
  CHECK(only_metric(side_of(kBefore, time), side_of(kAfter, time)).verdict ==
        ChangeVerdict::changed);
}

TEST_CASE("an ignored parameter joins series that differ in it, and mixes none") {
  const auto key = [](const char* library) {
    MetricKey one = rate_key("gemm.throughput");
    one.params = std::string(R"({"library":")") + library + R"(","m":512})";
    return one;
  };
  std::vector<Side> sides = {side_of(kBefore, key("onednn")), side_of(kAfter, key("openblas"))};
  CHECK(compare(sides[0], sides[1]).metrics.empty());
  ignore_parameters(sides, {"library"});
  const Comparison joined = compare(sides[0], sides[1]);
  REQUIRE(joined.metrics.size() == 1);
  CHECK(joined.metrics[0].params == Json({{"m", 512}}));
  CHECK(joined.metrics[0].verdict == ChangeVerdict::regressed);
  CHECK_THROWS_WITH(ignore_parameters(sides, {"n"}), Contains("no series has the parameter 'n'"));

  std::vector<Side> mixed = {side_of(kBefore, key("onednn"))};
  mixed[0].metrics.insert(*side_of(kAfter, key("openblas")).metrics.begin());
  CHECK_THROWS_WITH(ignore_parameters(mixed, {"library"}), Contains("openblas"));
}

TEST_CASE("a CPU quota that differs between the sides is a warning") {
  const auto side = [](const std::vector<double>& values, std::int64_t configuration,
                       const char* quota) {
    Side one = side_of(values);
    one.configurations[configuration] = {{"cpu_quota_cores", quota}};
    for (Point& point : one.metrics.begin()->second.begin()->second)
      point.configuration = configuration;
    return one;
  };
  const Side before = side(kBefore, 1, "none");
  const Comparison found = compare(before, side(kAfter, 2, "0.5"));
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], Contains("CPU quotas differ (cores: none in A, 0.5 in B)"));
  CHECK(compare(before, side(kAfter, 2, "none")).warnings.empty());
}

TEST_CASE("exact metrics are equal or changed, without a test") {
  MetricKey cores = rate_key("topology.cores");
  cores.better = Better::none;
  const ComparedMetric same = only_metric(side_of({64, 64}, cores), side_of({64}, cores));
  CHECK(same.verdict == ChangeVerdict::equivalent);
  CHECK(std::isnan(same.p));
  const ComparedMetric other = only_metric(side_of({64, 64}, cores), side_of({63.999}, cores));
  CHECK(other.verdict == ChangeVerdict::changed);
  CHECK(other.basis == Basis::exact);
}

TEST_CASE("too few runs are inconclusive, with the number needed") {
  const ComparedMetric found = only_metric(side_of({100, 101, 99}), side_of({90, 91, 89}));
  CHECK(found.verdict == ChangeVerdict::inconclusive);
  CHECK(found.basis == Basis::none);
  CHECK_THAT(found.why, Contains("too few runs"));
  REQUIRE(found.n_needed);
  CHECK(*found.n_needed >= 4);
}

TEST_CASE("a single small p among many comparisons is not a discovery") {
  Side a{.name = "a"}, b{.name = "b"};
  for (int i = 0; i < 40; ++i) {
    const MetricKey key = rate_key("x.m" + std::to_string(i));
    for (const double value : kBefore) {
      a.metrics[key][{"n1", "host"}].push_back(value_point(value));
      b.metrics[key][{"n1", "host"}].push_back(value_point(value));
    }
  }
  auto& changed = b.metrics[rate_key("x.m0")][{"n1", "host"}];
  for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = value_point(kAfter[i]);
  const Comparison found = compare(a, b);
  CHECK(found.tested == 40);
  CHECK(found.count(ChangeVerdict::regressed) == 0);
  const auto open = std::ranges::find(
      found.metrics, "x.m0", [](const ComparedMetric& metric) { return metric.key.metric; });
  CHECK(open->verdict == ChangeVerdict::inconclusive);
  CHECK_THAT(open->why, Contains("one of 40 comparisons"));
}

TEST_CASE("derived metrics are omitted unless requested") {
  const MetricKey twin = rate_key("collective.algbw");
  CHECK(compare(side_of(kBefore, twin), side_of(kAfter, twin)).derived == 1);
  CHECK(compare(side_of(kBefore, twin), side_of(kAfter, twin)).metrics.empty());
  CHECK(only_metric(side_of(kBefore, twin), side_of(kAfter, twin), {.derived = true}).verdict ==
        ChangeVerdict::regressed);
}

TEST_CASE("metrics of only one side are listed, never compared") {
  Side a = side_of(kBefore), b = side_of(kAfter);
  MetricKey other = rate_key();
  other.params = R"({"m":1024})";
  b.metrics[other] = b.metrics[rate_key()];
  b.metrics.erase(rate_key());
  const Comparison found = compare(a, b);
  CHECK(found.metrics.empty());
  CHECK(found.only_a == std::vector<std::string>{"gemm.throughput (m 512)"});
  CHECK(found.only_b == std::vector<std::string>{"gemm.throughput (m 1024)"});
  CHECK(found.exit_code() == ExitCode::not_measured);
}
