// Vectors: one-sided upper limits of the Review of Particle Physics, "Statistics", table 40.3
// (Poisson, no background); tails of the Poisson distribution summed term by term.
#include <cmath>
#include <utility>
#include <vector>

#include "results/stats/distributions.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("upper limits of a Poisson mean match the published table") {
  const std::vector<std::pair<double, double>> table = {
      // 90 %, 95 % for 0, 1, 2, ... events
      {2.30, 3.00},   {3.89, 4.74},   {5.32, 6.30},   {6.68, 7.75},   {7.99, 9.15},  {9.27, 10.51},
      {10.53, 11.84}, {11.77, 13.15}, {12.99, 14.43}, {14.21, 15.71}, {15.41, 16.96}};
  for (std::size_t n = 0; n < table.size(); ++n) {
    INFO(n);
    CHECK(std::abs(poisson_upper(double(n), 0.90) - table[n].first) <= 0.00501);
    CHECK(std::abs(poisson_upper(double(n), 0.95) - table[n].second) <= 0.00501);
  }
  CHECK(poisson_upper(0.0) == Approx(-std::log(0.05)).epsilon(1e-9));
}

TEST_CASE("the Poisson tail is the sum of its terms") {
  const auto summed = [](int count, double mean) {
    double term = std::exp(-mean), below = 0.0;
    for (int i = 0; i < count; ++i) below += term, term *= mean / (i + 1);
    double sum = 0.0;
    for (int i = count; i < count + 2000; ++i) sum += term, term *= mean / (i + 1);
    return sum;
  };
  for (const double mean : {1e-9, 0.008, 0.5, 1.0, 3.0, 20.0, 300.0})
    for (const int count : {1, 2, 3, 10, 40, 400}) {
      INFO(count << " of " << mean);
      CHECK(poisson_at_least(count, mean) ==
            Approx(summed(count, mean)).epsilon(1e-9).margin(1e-15));
    }
  CHECK(poisson_at_least(1.0, 1.0) == Approx(1.0 - std::exp(-1.0)));
}

TEST_CASE("the Poisson tail is 1 for no events, 0 for mean 0, NaN for invalid means") {
  CHECK(poisson_at_least(0.0, 5.0) == 1.0);
  CHECK(poisson_at_least(3.0, 0.0) == 0.0);
  CHECK(std::isnan(poisson_at_least(3.0, -1.0)));
  CHECK(std::isnan(poisson_at_least(3.0, std::nan(""))));
}

TEST_CASE("the Poisson tail handles millions of events") {
  CHECK(poisson_at_least(1.0e6, 1.0e6) == Approx(0.5).margin(0.001));
  CHECK(poisson_at_least(1.01e6, 1.0e6) < 1e-20);
  CHECK(poisson_upper(1.0e6) == Approx(1.001646e6).epsilon(1e-5));
}
