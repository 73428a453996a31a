#include "training/sources/auc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace bench::training {
namespace {

std::vector<std::size_t> by_score(std::span<const float> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

void check_scores(std::span<const float> scores, std::span<const double> probabilities) {
  if (scores.size() != probabilities.size())
    throw Error(ErrorKind::internal,
                fmt::format("{} scores for {} samples", scores.size(), probabilities.size()));
  const auto bad = std::ranges::find_if(scores, [](float s) { return std::isnan(s); });
  if (bad != scores.end())
    throw Error(ErrorKind::internal,
                fmt::format("the score of sample {} is not a number", bad - scores.begin()));
}

}  // namespace

double expected_auc(std::span<const float> scores, std::span<const double> probabilities) {
  check_scores(scores, probabilities);
  const std::vector<std::size_t> order = by_score(scores);
  double clicks = 0, others = 0, below = 0, itself = 0;
  for (std::size_t i = 0; i < order.size();) {
    const float score = scores[order[i]];
    double tied_clicks = 0, tied_others = 0;
    for (; i < order.size() && scores[order[i]] == score; ++i) {
      const double p = probabilities[order[i]];
      tied_clicks += p;
      tied_others += 1 - p;
      itself += p * (1 - p);  // exclude the pair of a sample with itself, which would be a tie
    }
    below += tied_clicks * (others + 0.5 * tied_others);
    clicks += tied_clicks;
    others += tied_others;
  }
  const double pairs = clicks * others - itself;
  return pairs > 0 ? (below - 0.5 * itself) / pairs : std::nan("");
}

}  // namespace bench::training
