// Rankings and what they are worth: recall@k and NDCG@k of the first k items. If the true
// probabilities are known, the expectation over the one item that is wanted is used, which removes
// the noise of drawing it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bench::training {

/// The indices of the k highest scores, the highest first; of equal ones the first comes first.
/// Fewer if there are fewer scores. Throws Error(internal) for a score that is not a number.
std::vector<std::int32_t> top_items(std::span<const float> scores, std::size_t k);
std::vector<std::int32_t> top_items(std::span<const double> scores, std::size_t k);

/// Of a ranking whose one wanted item is drawn by `probabilities`.
struct RankingWorth {
  double recall = 0.0;  // probability that the wanted item is in the ranking
  double ndcg = 0.0;    // expected 1 / log2(1 + place of the wanted item), 0 if it is not in it
};
RankingWorth expected_worth(std::span<const std::int32_t> ranking,
                            std::span<const double> probabilities);

}  // namespace bench::training
