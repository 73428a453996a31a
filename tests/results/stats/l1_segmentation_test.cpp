#include "results/stats/l1_segmentation.h"

#include <limits>
#include <random>

#include "results/stats/series_noise.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

/// The cost of the best segmentation by trying every last boundary, as the definition has it.
double least_cost(const std::vector<double>& x, double penalty) {
  std::vector<double> best(x.size() + 1, std::numeric_limits<double>::infinity());
  best[0] = -penalty;
  for (std::size_t end = kShortestSegment; end <= x.size(); ++end)
    for (std::size_t begin = 0; begin + kShortestSegment <= end; ++begin)
      best[end] =
          std::min(best[end], best[begin] + penalty + l1_cost({x.data() + begin, end - begin}));
  return best.back();
}

double cost_of(const std::vector<double>& x, const std::vector<std::size_t>& boundaries,
               double penalty) {
  double sum = penalty * static_cast<double>(boundaries.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= boundaries.size(); ++i) {
    const std::size_t end = i < boundaries.size() ? boundaries[i] : x.size();
    REQUIRE(end >= begin + kShortestSegment);
    sum += l1_cost({x.data() + begin, end - begin});
    begin = end;
  }
  return sum;
}

}  // namespace

TEST_CASE("a step is found where it is, and none where there is none") {
  L1Segmentation steps;
  const std::vector<double> step{10, 11, 10, 12, 20, 21, 19, 20};
  CHECK(steps.boundaries(step, 6.0) == std::vector<std::size_t>{4});
  CHECK(steps.boundaries(std::vector<double>{10, 11, 10, 12, 10, 11, 12, 10}, 6.0).empty());
  CHECK(steps.boundaries(std::vector<double>(9, 4.0), 0.1).empty());
  CHECK(steps.boundaries(std::vector<double>{1, 1, 9}, 0.1).empty());
}

TEST_CASE("a single outlier is not a segment") {
  L1Segmentation steps;
  std::vector<double> x(20, 10.0);
  x[10] = 3.0;
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] += 0.1;
  CHECK(steps.boundaries(x, 0.5).empty());
}

TEST_CASE("no segmentation of random series is cheaper than the one found") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise;
  L1Segmentation steps;
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 4 + random() % 40;
    std::vector<double> x;
    double level = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      if (random() % 8 == 0) level = 3.0 * noise(random);
      const double value = level + noise(random);
      x.push_back(round % 3 == 0 ? std::round(value) : value);  // ties too
    }
    const double penalty = 0.5 + static_cast<double>(random() % 8);
    const auto found = steps.boundaries(x, penalty);
    CHECK(cost_of(x, found, penalty) == Approx(least_cost(x, penalty)).margin(1e-9));
  }
}

TEST_CASE("a step does not affect the noise estimate") {
  std::mt19937_64 random(6);
  std::normal_distribution<double> noise;
  std::vector<double> x;
  for (int i = 0; i < 4000; ++i) x.push_back(noise(random) + (i < 2000 ? 0.0 : 50.0));
  CHECK(difference_sigma(x) == Approx(1.0).epsilon(0.05));
  CHECK(neighbour_correlation(x) == Approx(0.0).margin(0.06));
  CHECK(variance_inflation(0.4) == Approx(1.4 / 0.6));
  CHECK(l1_penalty(2.0, 60, 1.5) == Approx(1.6 * 1.5 * 2.0 * std::log(60.0)));
}

TEST_CASE("lag-1 correlation is estimated and capped at 0.7") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  std::vector<double> x, walk;
  double last = 0.0, sum = 0.0;
  for (int i = 0; i < 4000; ++i) {
    x.push_back(last = 0.4 * last + noise(random));
    walk.push_back(sum += noise(random));
  }
  CHECK(neighbour_correlation(x) == Approx(0.4).margin(0.06));
  CHECK(neighbour_correlation(walk) == 0.7);
  CHECK(neighbour_correlation(std::vector<double>(30, 1.0)) == 0.0);
}

TEST_CASE("mostly constant series have the noise of their few changes; short ones none") {
  std::vector<double> x(20, 1.0);
  x[7] = 2.0;
  CHECK(difference_sigma(x) == Approx(2.0 / 19.0 / 1.128));
  CHECK(difference_sigma(std::vector<double>{1, 2}) == 0.0);
}
