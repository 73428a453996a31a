#include "results/verdicts/compare/host_changes.h"

#include <cmath>
#include <random>

#include "tests/results/compare_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

/// Hosts n0, n1, ... with levels of their own and noise that repeats from seed to seed.
std::pair<Side, Side> fleet_of(int hosts, int runs, double noise, double lost_by_first,
                               const MetricKey& key = rate_key(), unsigned seed = 7) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Side a{.name = "a"}, b{.name = "b"};
  a.runs = b.runs = static_cast<std::size_t>(runs);
  for (int host = 0; host < hosts; ++host) {
    const UnitOfHost unit{"n" + std::to_string(host), "host"};
    const double level = 100.0 + 3.0 * normal(random);
    for (int run = 0; run < runs; ++run) {
      a.metrics[key][unit].push_back(value_point(level * std::exp(noise * normal(random)), 0.001));
      b.metrics[key][unit].push_back(value_point(
          level * (host == 0 ? 1.0 - lost_by_first : 1.0) * std::exp(noise * normal(random)),
          0.001));
    }
  }
  return {a, b};
}

}  // namespace

TEST_CASE("one of twelve hosts that lost 5 % is named, and nothing is called equivalent") {
  for (const int runs : {1, 4}) {
    CAPTURE(runs);
    const auto [a, b] = fleet_of(12, runs, 0.004, 0.05);
    const Comparison found = compare(a, b);
    REQUIRE(found.metrics.size() == 1);
    const ComparedMetric& metric = found.metrics[0];
    CHECK(metric.low > 0.99);  // of the typical host
    CHECK(metric.verdict == ChangeVerdict::changed);
    CHECK_THAT(metric.why, Contains("1 of 12 hosts or devices changed"));
    REQUIRE(metric.hosts.size() == 1);
    CHECK(metric.hosts[0].unit.first == "n0");
    CHECK(metric.hosts[0].verdict == ChangeVerdict::regressed);
    CHECK(metric.hosts[0].ratio == Approx(0.95).epsilon(0.01));
    CHECK(found.exit_code() == ExitCode::failed);
  }
}

TEST_CASE("two hosts that lost as much do not hide each other") {
  auto [a, b] = fleet_of(12, 1, 0.004, 0.05);
  b.metrics[rate_key()][{"n5", "host"}][0].value *= 0.95;
  CHECK(only_metric(a, b).hosts.size() == 2);
}

TEST_CASE("one of three hosts is named by the variation of its runs") {
  const auto [a, b] = fleet_of(3, 4, 0.004, 0.05);
  const Comparison found = compare(a, b);
  REQUIRE(found.metrics[0].hosts.size() == 1);
  CHECK(found.metrics[0].hosts[0].unit.first == "n0");
  CHECK(found.exit_code() == ExitCode::failed);
}

TEST_CASE("with one run of few hosts, a host is changed at most") {
  const auto [a, b] = fleet_of(5, 1, 0.0005, 0.04);
  const ComparedMetric found = only_metric(a, b);
  CHECK(found.basis == Basis::samples);
  REQUIRE_FALSE(found.hosts.empty());
  for (const HostChange& host : found.hosts) CHECK(host.verdict == ChangeVerdict::changed);
  CHECK(found.verdict != ChangeVerdict::equivalent);
}

TEST_CASE("hosts that all changed alike are not listed one by one") {
  auto [a, b] = fleet_of(3, 4, 0.004, 0.0);
  for (auto& [unit, points] : b.metrics[rate_key()])
    for (Point& point : points) point.value *= 0.95;
  const ComparedMetric found = only_metric(a, b);
  CHECK(found.verdict == ChangeVerdict::regressed);
  CHECK(found.hosts.empty());
}

TEST_CASE("healthy hosts of many metrics are rarely named") {
  int named = 0;
  for (unsigned trial = 0; trial < 40; ++trial) {
    Side a{.name = "a"}, b{.name = "b"};
    for (unsigned metric = 0; metric < 10; ++metric) {
      const MetricKey key = rate_key("x.m" + std::to_string(metric));
      const auto [of_a, of_b] = fleet_of(12, 1, 0.01, 0.0, key, 100 * trial + metric);
      a.metrics[key] = of_a.metrics.at(key);
      b.metrics[key] = of_b.metrics.at(key);
    }
    for (const ComparedMetric& metric : compare(a, b).metrics)
      named += static_cast<int>(metric.hosts.size());
  }
  CHECK(named <= 4);
}
