#include "core/order_statistics.h"

#include <cmath>
#include <map>

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("the interval of the median uses the published ranks") {
  const std::map<std::size_t, std::size_t> ranks = {
      {6, 1},  {7, 1},  {8, 1},   {9, 2},   {10, 2},   {12, 3},   {15, 4},
      {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}, {200, 86}, {1000, 469}};
  for (const auto& [n, rank] : ranks) {
    INFO("n = " << n);
    CHECK(median_interval_rank(n) == rank);
  }
  for (std::size_t n = 0; n < 6; ++n) CHECK(median_interval_rank(n) == 0);
}

TEST_CASE("the interval keeps 95 % and would lose it one rank further in") {
  for (std::size_t n = 6; n <= 60; ++n) {
    long double below = 0.0L, mass = std::pow(0.5L, static_cast<long double>(n));
    for (std::size_t k = 0; k < median_interval_rank(n); ++k) {
      below += mass;
      mass *= static_cast<long double>(n - k) / static_cast<long double>(k + 1);
    }
    INFO("n = " << n);
    CHECK(1.0L - 2.0L * below >= 0.95L);
    CHECK(1.0L - 2.0L * (below + mass) < 0.95L);
  }
}

TEST_CASE("the rank is plausible where the binomial is approximated") {
  for (std::size_t n = 1; n < 5000; ++n)
    CHECK(median_interval_rank(n) <= median_interval_rank(n + 1));
  // Exact values by summation with arbitrary precision.
  CHECK(median_interval_rank(10'000) == 4902);
  CHECK(median_interval_rank(1'000'000) == 499'020);
}

TEST_CASE("the interval's ends are order statistics, whatever the order of the values") {
  std::vector<double> values = {9, 1, 8, 2, 7, 3, 6, 4, 5};
  const auto interval = median_interval(values);
  REQUIRE(interval);
  CHECK(interval->low == 2);
  CHECK(interval->high == 8);
  CHECK_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
}

TEST_CASE("median and quantiles interpolate as Hyndman and Fan's type 7") {
  const std::vector<double> values = {40, 10, 30, 20};
  CHECK(median(values) == 25);
  CHECK(median(std::vector<double>{3, 1, 2}) == 2);
  CHECK(quantile(values, 0.0) == 10);
  CHECK(quantile(values, 1.0) == 40);
  CHECK(quantile(values, 0.25) == Approx(17.5));
  CHECK(quantile(values, 0.95) == Approx(38.5));
  CHECK(quantile(std::vector<double>{7}, 0.3) == 7);
}

TEST_CASE("any quantile equals that of the sorted values") {
  std::vector<double> values;
  for (int i = 0; i < 101; ++i) values.push_back((i * 37) % 101);
  for (int percent = 0; percent <= 100; ++percent)
    CHECK(quantile(values, percent / 100.0) == Approx(percent).margin(1e-9));
}

TEST_CASE("no values, or NaN, give NaN and no interval") {
  const std::vector<double> none;
  CHECK(std::isnan(median(none)));
  CHECK(std::isnan(quantile(none, 0.5)));
  CHECK(std::isnan(mean(none)));
  CHECK(std::isnan(standard_deviation(std::vector<double>{1})));
  const std::vector<double> broken = {1, 2, std::nan(""), 4, 5, 6, 7};
  CHECK(std::isnan(median(broken)));
  CHECK_FALSE(median_interval(broken));
  CHECK(std::isnan(quantile(std::vector<double>{1, 2}, 1.5)));
  CHECK(std::isnan(quantile(std::vector<double>{1, 2}, std::nan(""))));
}

TEST_CASE("mean and standard deviation divide by n and n - 1") {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  CHECK(mean(values) == 5);
  CHECK(standard_deviation(values) == Approx(std::sqrt(32.0 / 7.0)));
}

TEST_CASE("infinite values are ordered and do not become NaN") {
  const std::vector<double> values = {HUGE_VAL, HUGE_VAL, 1};
  CHECK(median(values) == HUGE_VAL);
  CHECK(quantile(values, 0.75) == HUGE_VAL);
}
