#include "training/sources/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench::training {
namespace {

/// One pass that keeps the best in order: nearly all scores fail the first comparison.
template <class Score>
std::vector<std::int32_t> best_of(std::span<const Score> scores, std::size_t k) {
  std::vector<std::int32_t> best;
  best.reserve(k + 1);
  const auto score_of = [&](std::int32_t item) { return scores[static_cast<std::size_t>(item)]; };
  for (std::size_t i = 0; i < scores.size() && k > 0; ++i) {
    const Score score = scores[i];
    if (best.size() == k && score <= score_of(best.back())) continue;
    if (std::isnan(score))
      throw Error(ErrorKind::internal, fmt::format("the score of item {} is not a number", i));
    const auto at = std::upper_bound(best.begin(), best.end(), score,
                                     [&](Score one, auto item) { return one > score_of(item); });
    best.insert(at, static_cast<std::int32_t>(i));
    if (best.size() > k) best.pop_back();
  }
  return best;
}

}  // namespace

std::vector<std::int32_t> top_items(std::span<const float> scores, std::size_t k) {
  return best_of(scores, k);
}
std::vector<std::int32_t> top_items(std::span<const double> scores, std::size_t k) {
  return best_of(scores, k);
}

RankingWorth expected_worth(std::span<const std::int32_t> ranking,
                            std::span<const double> probabilities) {
  RankingWorth worth;
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    const double wanted = probabilities[static_cast<std::size_t>(ranking[place])];
    worth.recall += wanted;
    worth.ndcg += wanted / std::log2(static_cast<double>(place) + 2.0);
  }
  return worth;
}

}  // namespace bench::training
