// The law of interactions: that its probabilities are those of its samples, a softmax over all
// items, and that the softmax over a batch has its optimum at that law.
#include "training/sources/interaction_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::training {
namespace {

InteractionOptions little_interactions() {
  InteractionOptions options;
  options.user_rows = {3, 2};
  options.items = 24;
  options.genres = 3;
  options.formats = 2;
  return options;
}

struct Interaction {
  std::vector<std::int32_t> ids;
  float correction = 0;
  double probability = 0;
};

Interaction read_interaction(const InteractionModel& model, Split split, std::uint64_t index) {
  Interaction made{std::vector<std::int32_t>(static_cast<std::size_t>(model.shape().ids()))};
  ClickSample sample{.dense = {&made.correction, 1}, .ids = made.ids};
  model.read(split, index, sample);
  made.probability = sample.probability;
  return made;
}

/// P(item | user) of all items.
std::vector<double> law_of(const InteractionModel& model, std::vector<std::int32_t> user) {
  std::vector<double> kinds(static_cast<std::size_t>(model.kinds()));
  model.kind_probabilities(user.data(), kinds);
  std::vector<double> items;
  for (std::int64_t item = 0; item < model.items(); ++item)
    items.push_back(kinds[static_cast<std::size_t>(model.kind_of(item))] *
                    model.share_in_kind(item));
  return items;
}

double total_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum;
}

}  // namespace

TEST_CASE("the probabilities of all items sum to one, and those of one kind follow popularity") {
  const InteractionModel model(tiny_interactions());
  for (const std::int32_t id : {0, 3, 19}) {
    const std::vector<double> law = law_of(model, {id, 2 * id, id, id});
    CHECK(total_of(law) == Approx(1.0).epsilon(1e-9));
    std::map<int, std::int64_t> first;
    for (std::int64_t item = 0; item < model.items(); ++item) {
      const auto [seen, is_new] = first.emplace(model.kind_of(item), item);
      if (is_new) continue;
      const auto before = seen->second;
      const double ratio =
          std::pow((static_cast<double>(item) + 1) / (static_cast<double>(before) + 1), -0.7);
      CHECK(law[static_cast<std::size_t>(item)] ==
            Approx(ratio * law[static_cast<std::size_t>(before)]).epsilon(1e-6));
    }
    CHECK(first.size() == 128);
  }
}

TEST_CASE("samples are drawn with the stated probabilities for every user") {
  const InteractionModel model(little_interactions());
  std::map<std::vector<std::int32_t>, std::vector<double>> seen;
  constexpr std::uint64_t kDrawn = 200'000;
  for (std::uint64_t i = 0; i < kDrawn; ++i) {
    const Interaction one = read_interaction(model, Split::train, i);
    auto& counts = seen[{one.ids[0], one.ids[1]}];
    counts.resize(24);
    counts[static_cast<std::size_t>(one.ids[2])] += 1;
    CHECK(one.ids[3] == model.kind_of(one.ids[2]) % 2);
  }
  REQUIRE(seen.size() == 6);
  std::vector<double> shares(24);
  for (const auto& [user, counts] : seen) {
    const std::vector<double> law = law_of(model, user);
    const double drawn = total_of(counts);
    double chi_square = 0;
    for (std::size_t item = 0; item < 24; ++item) {
      const double expected = drawn * law[item];
      chi_square += (counts[item] - expected) * (counts[item] - expected) / expected;
      shares[item] += drawn / kDrawn * law[item];
    }
    CHECK(chi_square < 60);  // 23 degrees of freedom: exceeded once in 30,000
  }
  for (std::size_t item = 0; item < 24; ++item)
    CHECK(model.share(static_cast<std::int64_t>(item)) == Approx(shares[item]).epsilon(0.02));
}

TEST_CASE("a sample states its item's probability and correction, and depends on its number") {
  const InteractionModel model(little_interactions());
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Interaction one = read_interaction(model, Split::train, i);
    CHECK(read_interaction(model, Split::train, i).ids == one.ids);
    const std::int64_t item = one.ids[2];
    CHECK(one.probability ==
          Approx(law_of(model, {one.ids[0], one.ids[1]})[static_cast<std::size_t>(item)]));
    CHECK(one.correction == Approx(-std::log(model.share(item))));
  }
  CHECK(read_interaction(model, Split::evaluation, 30).ids[2] == 6);  // each item in turn
}

TEST_CASE("seeds change training samples, and neither the law nor the evaluation users") {
  InteractionOptions options = tiny_interactions();
  const InteractionModel one(options);
  options.seed = 2;
  const InteractionModel two(options);
  int equal = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    CHECK(read_interaction(one, Split::evaluation, i).ids ==
          read_interaction(two, Split::evaluation, i).ids);
    equal +=
        read_interaction(one, Split::train, i).ids == read_interaction(two, Split::train, i).ids;
  }
  CHECK(equal < 5);
  CHECK(one.share(17) == two.share(17));
}

// docs/workloads/two_tower.md: with the correction, scores of log P(item | user) + any constant of
// the user minimize the expected loss over batches of any size; without it they do not.
TEST_CASE("the corrected softmax over a batch is least at the law, the plain one is not") {
  const std::vector<std::vector<double>> law = {{0.6, 0.3, 0.1}, {0.1, 0.2, 0.7}};
  const std::vector<double> user_share = {0.7, 0.3};
  std::vector<double> share(3);
  for (std::size_t u = 0; u < 2; ++u)
    for (std::size_t i = 0; i < 3; ++i) share[i] += user_share[u] * law[u][i];
  // Batches of three: a positive and two negatives, which are other samples' items.
  const auto loss_of = [&](const std::vector<std::vector<double>>& scores, bool corrected) {
    const auto score = [&](std::size_t u, std::size_t i) {
      return scores[u][i] - (corrected ? std::log(share[i]) : 0.0);
    };
    double loss = 0;
    for (std::size_t u = 0; u < 2; ++u)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
          for (std::size_t k = 0; k < 3; ++k)
            loss +=
                user_share[u] * law[u][i] * share[j] * share[k] *
                (std::log(std::exp(score(u, i)) + std::exp(score(u, j)) + std::exp(score(u, k))) -
                 score(u, i));
    return loss;
  };
  std::vector<std::vector<double>> best = law;
  for (std::size_t u = 0; u < 2; ++u)
    for (double& p : best[u]) p = std::log(p) + 3.0 * static_cast<double>(u);
  bool plain_falls = false;
  for (std::size_t u = 0; u < 2; ++u)
    for (std::size_t i = 0; i < 3; ++i)
      for (const double by : {-1e-3, 1e-3}) {
        auto moved = best;
        moved[u][i] += by;
        CHECK(loss_of(moved, true) > loss_of(best, true));
        plain_falls = plain_falls || loss_of(moved, false) < loss_of(best, false);
      }
  CHECK(plain_falls);
}

TEST_CASE("interactions of impossible sizes are refused") {
  InteractionOptions options = little_interactions();
  options.items = 25;
  CHECK_THROWS_WITH(InteractionModel(options), Catch::Contains("25 items"));
  options = little_interactions();
  options.user_rows = {5};
  CHECK_THROWS_WITH(InteractionModel(options), Catch::Contains("1 user features"));
}

}  // namespace bench::training
