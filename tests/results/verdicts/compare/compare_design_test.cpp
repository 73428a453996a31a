#include <cmath>
#include <random>

#include "results/verdicts/compare/estimate.h"
#include "results/verdicts/compare/one_metric.h"
#include "results/verdicts/compare/verdict.h"
#include "tests/results/compare_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

TEST_CASE("the number of runs needed depends on the noise and on the number of comparisons") {
  CHECK(runs_needed(2.0, 1.0, false) == 66);
  CHECK(runs_needed(1.0, 1.0, false) == 17);
  CHECK(runs_needed(1.0 / 1.5, 1.0, false) == 8);
  CHECK(runs_needed(0.5, 1.0, false) == 5);
  CHECK(runs_needed(1.0 / 3.0, 1.0, false) == 4);
  CHECK(fewest_values(false) == 4);
  CHECK(fewest_values(false, 20) == 6);
  CHECK(fewest_values(false, 200) == 8);
  CHECK(fewest_values(false, 1000) == 9);
  CHECK(fewest_values(false, 20'000) == 12);
  CHECK(fewest_values(true) == 6);
  CHECK(runs_needed(1.0, 0.0, false) == 1'000'000);
}

TEST_CASE("hosts on both sides are paired, so their levels do not mask the change") {
  Side a{.name = "a"}, b{.name = "b"};
  for (int host = 0; host < 8; ++host) {
    const UnitOfHost unit{"n" + std::to_string(host), "host"};
    const double level = 100.0 + 10.0 * host;
    a.metrics[rate_key()][unit] = {value_point(level)};
    b.metrics[rate_key()][unit] = {value_point(level * (0.97 + 0.0005 * host))};
  }
  const ComparedMetric found = only_metric(a, b);
  CHECK(found.basis == Basis::pairs);
  CHECK(found.pairs == 8);
  CHECK(found.verdict == ChangeVerdict::regressed);
  CHECK(found.p == Approx(2.0 / 256.0));
}

TEST_CASE("runs of a few hosts are compared within each host") {
  ScaledUnits a, b;
  for (int host = 0; host < 2; ++host)
    for (int run = 0; run < 4; ++run) {
      const UnitOfHost unit{"n" + std::to_string(host), "host"};
      a[unit].push_back({10.0 * host + 0.01 * run, 0.0});
      b[unit].push_back({10.0 * host + 0.01 * run + 1.0, 0.0});
    }
  const Estimate found = estimate(a, b);
  CHECK(found.basis == Basis::runs);
  CHECK(found.shift.estimate == Approx(1.0));
  CHECK(found.shift.low > 0.9);
  CHECK(found.p == Approx(2.0 / 4900.0));  // every difference above: one of (8 over 4)^2, twice
}

TEST_CASE("one run per side is judged by its samples, with a warning") {
  Side a{.name = "a"}, b{.name = "b"};
  a.metrics[rate_key()][{"n1", "host"}] = {value_point(100.0, 0.001)};
  b.metrics[rate_key()][{"n1", "host"}] = {value_point(95.0, 0.001)};
  const Comparison found = compare(a, b);
  CHECK(found.metrics[0].basis == Basis::samples);
  CHECK(found.metrics[0].verdict == ChangeVerdict::changed);  // these two runs, no more
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], Contains("no history of run-to-run variation"));
  const auto with_noise = [&](double deviation, double degrees) {
    return compare(a, b, {.noise = {{rate_key(), {deviation, degrees}}}}).metrics[0];
  };
  CHECK(with_noise(0.003, 7).verdict == ChangeVerdict::regressed);
  CHECK(with_noise(0.003, 7).basis == Basis::history);
  CHECK(with_noise(0.05, 7).verdict == ChangeVerdict::inconclusive);  // runs differ as much anyway
  // Of the loss that is seen, 5 %, not of the threshold of 1 %: that would be hundreds.
  CHECK(*with_noise(0.05, 7).n_needed == 16);
  CHECK(with_noise(0.003, 3).basis == Basis::samples);          // three say too little
  b.metrics[rate_key()][{"n1", "host"}] = {value_point(95.0)};  // without an interval
  CHECK(compare(a, b).metrics[0].verdict == ChangeVerdict::inconclusive);
  CHECK(compare(a, b).exit_code() == ExitCode::not_measured);
}

TEST_CASE("a lower clock is distinguished from slower software") {
  const auto with_clock = [](double rate, double clock) {
    Side side{.name = "side"};
    for (int i = 0; i < 6; ++i)
      side.metrics[rate_key()][{"n1", "host"}].push_back(
          value_point(rate * (1.0 + 0.0002 * i), kNoValue, clock));
    return side;
  };
  const Side a = with_clock(100.0, 2e9);
  CHECK(only_metric(a, with_clock(95.0, 1.9e9)).cause == "clock");
  CHECK(only_metric(a, with_clock(95.0, 2e9)).cause == "not the clock");
  CHECK(only_metric(a, with_clock(90.0, 1.9e9)).cause == "clock and more");
  CHECK(only_metric(a, with_clock(50.0, 1.9e9)).cause == "not the clock");  // a fourteenth of it
  CHECK(only_metric(a, with_clock(90.0, 2.1e9)).cause == "not the clock");  // it even rose
  CHECK(only_metric(a, with_clock(100.0, 2e9)).cause.empty());
  CHECK(only_metric(a, side_of(kAfter)).cause.empty());  // unknown clock
}

TEST_CASE("at most 2.5 % of comparisons of equal distributions report a difference") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0.0, 0.02);
  int wrong = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a(8), b(8);
    for (double& x : a) x = 100.0 * std::exp(noise(random));
    for (double& x : b) x = 100.0 * std::exp(noise(random));
    const ChangeVerdict verdict =
        compare(side_of(a), side_of(b), {.threshold = 0.02}).metrics[0].verdict;
    wrong += verdict == ChangeVerdict::improved || verdict == ChangeVerdict::regressed;
  }
  CHECK(wrong <= 0.025 * kTrials);
}
