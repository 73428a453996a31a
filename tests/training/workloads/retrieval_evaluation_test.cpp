// Recall, NDCG and cross entropy over all items against brute force.
#include "training/workloads/retrieval_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/elements.h"
#include "tests/support/catch.h"
#include "training/workloads/two_tower.h"

namespace bench::training {
namespace {

constexpr std::int64_t kVector = 3;
constexpr std::size_t kUsers = 20;

std::vector<float> normal_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random_normal(seed, i)));
  return values;
}

/// The first kRanked of all items, sorted by what is best.
template <class Numbers>
RankingSums worth_by_sort(const Numbers& by, const std::vector<double>& law) {
  std::vector<std::size_t> order(law.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return by[a] > by[b]; });
  RankingSums sums;
  for (std::size_t place = 0; place < kRanked; ++place) {
    sums.recall += law[order[place]];
    sums.ndcg += law[order[place]] / std::log2(2.0 + static_cast<double>(place));
  }
  return sums;
}

}  // namespace

TEST_CASE("rankings of all items are worth what brute force finds") {
  InteractionOptions options;
  options.user_rows = {30, 20};
  options.items = 2400;  // more than are scored at once
  options.genres = 8;
  options.formats = 3;
  const InteractionModel model(options);
  const auto items = static_cast<std::size_t>(model.items());
  const std::vector<float> user_vectors = normal_floats(kUsers * kVector, 5);
  const std::vector<float> item_vectors = normal_floats(items * kVector, 6);
  std::vector<double> kinds(kUsers * 24), shares;
  for (std::size_t i = 0; i < items; ++i)
    shares.push_back(model.share(static_cast<std::int64_t>(i)));
  RankingSums expected;
  for (std::size_t user = 0; user < kUsers; ++user) {
    const std::vector<std::int32_t> ids = {static_cast<std::int32_t>(user), 7};
    const std::span<double> of_kind = std::span(kinds).subspan(user * 24, 24);
    model.kind_probabilities(ids.data(), of_kind);
    std::vector<double> law, scores;
    double sum = 0.0, mean = 0.0;
    for (std::size_t i = 0; i < items; ++i) {
      const auto item = static_cast<std::int64_t>(i);
      law.push_back(of_kind[static_cast<std::size_t>(model.kind_of(item))] *
                    model.share_in_kind(item));
      scores.push_back(0.0);
      for (std::size_t k = 0; k < kVector; ++k)
        scores[i] += static_cast<double>(user_vectors[user * kVector + k]) *
                     static_cast<double>(item_vectors[i * kVector + k]);
      sum += std::exp(scores[i]);
      mean += law[i] * scores[i];
      expected.entropy -= law[i] * std::log(law[i]);
    }
    const RankingSums model_worth = worth_by_sort(scores, law), best = worth_by_sort(law, law);
    expected.recall += model_worth.recall;
    expected.ndcg += model_worth.ndcg;
    expected.best_recall += best.recall;
    expected.best_ndcg += best.ndcg;
    expected.popular_recall += worth_by_sort(shares, law).recall;
    expected.cross_entropy += std::log(sum) - mean;
  }
  const RankingSums found = rank_all(model, user_vectors, kinds, item_vectors, kVector, true);
  CHECK(found.users == kUsers);
  CHECK(found.recall == Approx(expected.recall).epsilon(1e-6));
  CHECK(found.ndcg == Approx(expected.ndcg).epsilon(1e-6));
  CHECK(found.best_recall == Approx(expected.best_recall));
  CHECK(found.best_ndcg == Approx(expected.best_ndcg));
  CHECK(found.popular_recall == Approx(expected.popular_recall));
  CHECK(found.entropy == Approx(expected.entropy));
  CHECK(found.cross_entropy == Approx(expected.cross_entropy).epsilon(1e-5));
  CHECK(found.recall < found.best_recall);
  CHECK(found.cross_entropy > found.entropy);
}

TEST_CASE("scores that are log-probabilities reach the best recall and the least cross entropy") {
  InteractionOptions options;
  options.user_rows = {30, 20};
  options.items = 240;
  options.genres = 8;
  options.formats = 3;
  const InteractionModel model(options);
  const std::vector<std::int32_t> ids = {4, 7};
  std::vector<double> kinds(24);
  model.kind_probabilities(ids.data(), kinds);
  std::vector<float> items;
  for (std::int64_t item = 0; item < model.items(); ++item)
    items.push_back(static_cast<float>(std::log(
        kinds[static_cast<std::size_t>(model.kind_of(item))] * model.share_in_kind(item))));
  const std::vector<float> user = {1.0f};
  const RankingSums sums = rank_all(model, user, kinds, items, 1, true);
  CHECK(sums.recall == Approx(sums.best_recall).epsilon(1e-12));
  CHECK(sums.ndcg == Approx(sums.best_ndcg).epsilon(1e-12));
  CHECK(sums.cross_entropy == Approx(sums.entropy).epsilon(1e-6));
}

}  // namespace bench::training
