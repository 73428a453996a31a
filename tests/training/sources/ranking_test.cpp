// Rankings against brute force: sorting, and all orders of a few items.
#include "training/sources/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/elements.h"
#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::training {

TEST_CASE("the highest scores are those of a whole sort, and of equal ones the first") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<float> scores;
    for (std::uint64_t i = 0; i < 300; ++i)
      scores.push_back(std::round(4.0f * static_cast<float>(random_normal(seed, i))));
    std::vector<std::int32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    for (const std::size_t k : {1u, 10u, 299u, 300u, 400u}) {
      order.resize(std::min(order.size(), std::max<std::size_t>(k, 300)));
      const std::vector<std::int32_t> best = top_items(std::span<const float>(scores), k);
      CHECK(best.size() == std::min<std::size_t>(k, 300));
      CHECK(std::equal(best.begin(), best.end(), order.begin()));
    }
  }
}

TEST_CASE("no order of the items is worth more than that by probability") {
  const std::vector<double> probabilities = {0.05, 0.4, 0.15, 0.08, 0.2, 0.12};
  const RankingWorth best =
      expected_worth(top_items(std::span<const double>(probabilities), 3), probabilities);
  CHECK(best.recall == Approx(0.4 + 0.2 + 0.15));
  CHECK(best.ndcg == Approx(0.4 + 0.2 / std::log2(3.0) + 0.15 / 2.0));
  std::vector<std::int32_t> order = {0, 1, 2, 3, 4, 5};
  int equal = 0, orders = 0;
  do {
    const RankingWorth worth = expected_worth(std::span(order).first(3), probabilities);
    CHECK(worth.recall <= best.recall + 1e-12);
    CHECK(worth.ndcg <= best.ndcg + 1e-12);
    equal += worth.ndcg > best.ndcg - 1e-12;
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(orders == 720);
  CHECK(equal == 6);  // the order of the last three counts for nothing
}

TEST_CASE("the worth of a ranking is the mean over drawn items") {
  const std::vector<double> probabilities = {0.1, 0.25, 0.65};
  const std::vector<std::int32_t> ranking = {1, 2};
  double recall = 0.0, ndcg = 0.0;
  for (std::size_t wanted = 0; wanted < 3; ++wanted)
    for (std::size_t place = 0; place < ranking.size(); ++place)
      if (ranking[place] == static_cast<std::int32_t>(wanted)) {
        recall += probabilities[wanted];
        ndcg += probabilities[wanted] / std::log2(2.0 + static_cast<double>(place));
      }
  CHECK(expected_worth(ranking, probabilities).recall == Approx(recall));
  CHECK(expected_worth(ranking, probabilities).ndcg == Approx(ndcg));
}

TEST_CASE("a score that is not a number is refused") {
  const std::vector<float> scores = {1.0f, 3.0f, std::numeric_limits<float>::quiet_NaN(), 0.0f};
  CHECK_THROWS_WITH(top_items(std::span<const float>(scores), 2), Catch::Contains("item 2"));
}

}  // namespace bench::training
