#include <vector>

#include "results/stats/rank_scan.h"
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
