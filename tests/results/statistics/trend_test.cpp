#include "results/statistics/trend.h"

#include <vector>

#include "results/statistics/control_chart.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("an outlier in the last value does not change the slope") {
  const Trend found = trend(std::vector<double>{1, 3, 2, 5, 4, 20});
  CHECK(found.slope == Approx(4.0 / 3.0));
  CHECK(found.low == -1.0);
  CHECK(found.high == 7.5);
  CHECK(found.s == 11.0);
  CHECK(found.p == Approx(0.0603).epsilon(0.01));
}

TEST_CASE("a constant series has no trend; two values are too few") {
  const Trend still = trend(std::vector<double>(8, 2.0));
  CHECK(still.slope == 0.0);
  CHECK(still.p == 1.0);
  CHECK(std::isnan(trend(std::vector<double>{1, 2}).slope));
}

TEST_CASE("correlated neighbours make a trend less sure") {
  std::vector<double> rising;
  for (int i = 0; i < 20; ++i) rising.push_back(i + (i % 3) * 4.0);
  CHECK(trend(rising).p < 1e-4);
  CHECK(trend(rising, 4.0).p > trend(rising).p);
}

TEST_CASE("control charts of a declining series match the reference") {
  const std::vector<double> z{.2, -.4, .1, -1.2, -1.5, -.9, -1.8, -1.1};
  const std::vector<double> sums{0, 0, 0, .7, 1.7, 2.1, 3.4, 4.0};
  const auto cusum = cusum_below(z);
  REQUIRE(cusum.size() == sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(cusum[i] == Approx(sums[i]).margin(1e-12));
  const auto average = ewma(z);
  CHECK(average.front().value == Approx(0.04));
  CHECK(average.front().limit == Approx(0.6));
  CHECK(average.back().value == Approx(-0.881133).epsilon(1e-6));
  CHECK(average.back().limit == Approx(0.985826).epsilon(1e-6));
}
