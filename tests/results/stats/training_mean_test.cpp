// Olympic means and spreads, against figures worked out by hand and by simulation.
#include <cmath>
#include <random>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/olympic_mean.h"
#include "results/stats/peers.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr double kNever = HUGE_VAL;

/// How often, of 4,000 draws of n normal times about 100, an interval holds the mean.
template <class Interval>
double coverage(std::size_t n, Interval interval) {
  std::mt19937_64 bits(n);
  std::normal_distribution<double> times(100.0, 8.0);
  int held = 0;
  constexpr int kDraws = 4000;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> values(n);
    for (double& value : values) value = times(bits);
    const auto [low, high] = interval(values);
    held += low <= 100.0 && 100.0 <= high ? 1 : 0;
  }
  return held / static_cast<double>(kDraws);
}

}  // namespace

TEST_CASE("the olympic mean drops the fastest and the slowest run") {
  const OlympicMean five = olympic_mean(std::vector<double>{10.0, 50.0, 12.0, 11.0, 13.0});
  CHECK(five.mean == Approx(12.0));
  CHECK(five.kept == 3);
  CHECK(five.trimmed);
  // Winsorised 11 11 12 13 13: squares 4, h = 3, so SE = sqrt(4 / 6); t of 2 degrees is 4.303.
  CHECK(five.standard_error == Approx(std::sqrt(4.0 / 6.0)));
  CHECK(five.low == Approx(12.0 - 4.303 * std::sqrt(4.0 / 6.0)));
  CHECK(five.high == Approx(12.0 + 4.303 * std::sqrt(4.0 / 6.0)));
}

TEST_CASE("three runs give their median and no interval, with a reason") {
  const OlympicMean three = olympic_mean(std::vector<double>{10.0, 14.0, 11.0});
  CHECK(three.mean == 11.0);
  CHECK(std::isnan(three.low));
  CHECK_THAT(three.why, Contains("four are needed"));
}

TEST_CASE("fewer than three runs give the plain mean") {
  const OlympicMean two = olympic_mean(std::vector<double>{10.0, 14.0});
  CHECK(two.mean == 12.0);
  CHECK_FALSE(two.trimmed);
  CHECK(two.high == Approx(12.0 + 12.706 * 2.0));
  const OlympicMean one = olympic_mean(std::vector<double>{10.0});
  CHECK(one.mean == 10.0);
  CHECK(std::isnan(one.high));
  CHECK_THAT(one.why, Contains("one run"));
}

TEST_CASE("one run without convergence counts as the slowest, a second one voids the mean") {
  const OlympicMean one = olympic_mean(std::vector<double>{10.0, kNever, 12.0, 11.0, 13.0});
  CHECK(one.mean == Approx(12.0));  // of 11 12 13: 10 is the fastest
  CHECK(one.without == 1);
  CHECK(std::isfinite(one.high));
  const OlympicMean two = olympic_mean(std::vector<double>{10.0, kNever, 12.0, kNever, 13.0});
  CHECK(std::isnan(two.mean));
  CHECK_THAT(two.why, Contains("void") && Contains("2 of 5"));
}

TEST_CASE("two runs must both converge, and no runs give no mean") {
  const OlympicMean two = olympic_mean(std::vector<double>{10.0, kNoValue});
  CHECK(std::isnan(two.mean));
  CHECK_THAT(two.why, Contains("void"));
  CHECK_THAT(olympic_mean({}).why, Contains("no run"));
}

TEST_CASE("the olympic mean's interval has nominal coverage, that of the kept runs does not") {
  for (const std::size_t n : {5U, 10U}) {
    const double ours = coverage(n, [](const std::vector<double>& values) {
      const OlympicMean mean = olympic_mean(values);
      return std::pair{mean.low, mean.high};
    });
    CHECK(ours > 0.94);
    CHECK(ours < 0.985);
    const double naive = coverage(n, [](std::vector<double> values) {
      std::ranges::sort(values);
      const std::vector<double> kept(values.begin() + 1, values.end() - 1);
      const double half = student_95(kept.size() - 1) * standard_deviation(kept) /
                          std::sqrt(static_cast<double>(kept.size()));
      return std::pair{mean(kept) - half, mean(kept) + half};
    });
    CHECK(naive < 0.91);
  }
}

TEST_CASE("quantiles of chi squared agree with tables") {
  CHECK(chi_square_quantile(1.0, 0.95) == Approx(3.841459).epsilon(1e-6));
  CHECK(chi_square_quantile(4.0, 0.025) == Approx(0.484419).epsilon(1e-5));
  CHECK(chi_square_quantile(9.0, 0.975) == Approx(19.022768).epsilon(1e-6));
  CHECK(chi_square_quantile(100.0, 0.5) == Approx(99.334129).epsilon(1e-6));
}

TEST_CASE("the interval of the spread has 95 % coverage") {
  const double held = coverage(10, [](const std::vector<double>& values) {
    const Variation found = variation(values);
    // Of 100 +- 8 the CV is 8 %: shifted to where coverage() looks.
    return std::pair{100.0 * found.low / 0.08, 100.0 * found.high / 0.08};
  });
  CHECK(held > 0.94);
  CHECK(held < 0.96);
}

TEST_CASE("the number of runs needed grows with the square of the spread, from three") {
  CHECK(runs_needed(0.05) == 5.0);
  CHECK(runs_needed(0.08) == 13.0);
  CHECK(runs_needed(0.001) == 3.0);
  CHECK(std::isnan(runs_needed(kNoValue)));
  CHECK(std::isnan(variation(std::vector<double>{3.0}).cv));
  CHECK(variation(std::vector<double>{3.0, kNever, 3.0}).n == 2);
}
