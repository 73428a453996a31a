// MLPerf Inference's early stopping: numbers that its LoadGen prints, sums of the binomial
// distribution by another way, and how often an estimate is right.
#include "probes/image_inference/early_stopping.h"

#include <cmath>

#include "core/elements.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// P(X <= k), from one term to the next.
double summed(std::int64_t k, std::int64_t n, double chance) {
  double term = std::pow(1.0 - chance, static_cast<double>(n)), sum = 0.0;
  for (std::int64_t i = 0; i <= k; ++i) {
    sum += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * chance / (1.0 - chance);
  }
  return sum;
}

TEST_CASE("a binomial distribution is the sum of its terms") {
  CHECK(binomial_at_most(-1, 5, 0.3) == 0.0);
  CHECK(binomial_at_most(0, 3, 0.5) == Approx(0.125));
  CHECK(binomial_at_most(2, 3, 0.5) == Approx(0.875));
  CHECK(binomial_at_most(3, 3, 0.5) == Approx(1.0));
  CHECK(binomial_at_most(9, 3, 0.5) == Approx(1.0));
  for (const std::int64_t k : {0, 1, 5, 20, 60})
    CHECK(binomial_at_most(k, 2000, 0.01) == Approx(summed(k, 2000, 0.01)).epsilon(1e-9));
}

TEST_CASE("as many queries are needed as MLPerf's LoadGen needs") {
  CHECK(fewest_queries(0.9) == 64);
  CHECK(fewest_queries(0.99) == 662);
  CHECK(most_over_bound(63, 0.9) == 0);
  CHECK(most_over_bound(64, 0.9) == 1);
  for (const std::int64_t queries : {100, 662, 3000}) {
    const std::int64_t over = most_over_bound(queries, 0.9);
    CHECK(summed(over, queries, 0.1) <= 0.01);
    CHECK(summed(over + 1, queries, 0.1) > 0.01);
  }
}

TEST_CASE("a bound is kept, or missed, or neither is known") {
  CHECK(keeps_bound(0, 662, 0.99));
  CHECK(keeps_bound(1, 662, 0.99));
  CHECK_FALSE(keeps_bound(2, 662, 0.99));
  CHECK_FALSE(misses_bound(2, 662, 0.99));
  CHECK(misses_bound(30, 662, 0.99));
  CHECK_FALSE(keeps_bound(30, 662, 0.99));
  CHECK_FALSE(keeps_bound(0, 0, 0.99));
  CHECK_FALSE(misses_bound(0, 0, 0.99));
  CHECK(misses_bound(3, 3, 0.99));  // a chance of one in a million, if 99 % kept it
}

TEST_CASE("an estimate is one of the highest latencies, and none is made of too few") {
  std::vector<double> latencies;
  for (int i = 0; i < 63; ++i) latencies.push_back(static_cast<double>((i * 37) % 63));
  CHECK_FALSE(latency_estimate(latencies, 0.9).has_value());
  latencies.push_back(100.0);
  CHECK(latency_estimate(latencies, 0.9) == 100.0);
  latencies.clear();
  for (int i = 0; i < 1000; ++i) latencies.push_back(static_cast<double>((i * 37) % 1000));
  // P(X <= 78) = 0.0096 and P(X <= 79) = 0.0128: the 78th of 999, 998, ...
  CHECK(summed(78, 1000, 0.1) <= 0.01);
  CHECK(summed(79, 1000, 0.1) > 0.01);
  CHECK(latency_estimate(latencies, 0.9) == 922.0);
}

TEST_CASE("ninety-nine of a hundred estimates are not below the percentile") {
  int below = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::vector<double> latencies;
    for (std::uint64_t i = 0; i < 200; ++i)
      latencies.push_back(static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53);
    if (*latency_estimate(latencies, 0.9) < 0.9) ++below;
  }
  CHECK(below > 0);
  CHECK(below <= 10 + 9);  // three standard deviations
}

}  // namespace
}  // namespace bench
