#include <random>

#include "results/stats/rank_scan.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("squares about two means and their cuts are those of research") {
  const std::vector<double> x{10, 11, 10, 12, 20, 21, 19, 20};
  const std::vector<double> expected{142.857143, 112.5, 53.866667, 4.75, 73.2, 130.5, 151.428571};
  const auto squares = split_squares(x);
  REQUIRE(squares.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(squares[i] == Approx(expected[i]).epsilon(1e-8));
  CHECK((squares[0] - squares[3]) / (squares[3] / 6.0) == Approx(174.4511).epsilon(1e-6));
  CHECK(change_interval_cut(0.90) == Approx(5.939478011458178));
  CHECK(change_interval_cut(0.95) == Approx(7.352276694155739));
  CHECK(change_interval_cut(0.99) == Approx(10.591615878240857));
}

TEST_CASE("a clear change has one position") {
  const auto interval = change_interval(std::vector<double>{10, 11, 10, 12, 20, 21, 19, 20});
  CHECK(interval.at == 4);
  CHECK(interval.set == std::vector<std::size_t>{4});
}

TEST_CASE("the interval covers nineteen of twenty changes of two sigmas, and widens with f^2") {
  std::mt19937_64 random(9);
  std::normal_distribution<double> noise;
  int covered = 0;
  std::size_t plain = 0, inflated = 0;
  constexpr int kSeries = 1000;
  for (int i = 0; i < kSeries; ++i) {
    std::vector<double> x;
    for (int t = 0; t < 60; ++t) x.push_back(noise(random) - (t >= 30 ? 2.0 : 0.0));
    const auto set = change_interval(x).set;
    covered += std::find(set.begin(), set.end(), std::size_t{30}) != set.end();
    plain += set.size();
    inflated += change_interval(x, 2.33).set.size();
  }
  CHECK(covered >= 950);
  CHECK(plain / kSeries < 7);
  CHECK(inflated > plain);
}
