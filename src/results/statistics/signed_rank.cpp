#include "results/statistics/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "results/statistics/distributions.h"
#include "results/statistics/pair_selection.h"
#include "results/statistics/rank_distributions.h"

namespace bench {
namespace {

constexpr std::size_t kExactPairs = 50;

Shift of_many_pairs(std::span<const double> differences, double tail) {
  std::vector<double> sorted(differences.begin(), differences.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  return shift_by_selection(
      sorted.size() * (sorted.size() + 1) / 2,
      [&](std::size_t rank) { return nth_pair_mean(sorted, rank); },
      std::sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0), tail);
}

}  // namespace

RankTest signed_rank(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double d : differences) {
    if (d == 0.0) continue;
    sizes.push_back(std::abs(d));
    positive.push_back(d > 0.0);
  }
  if (sizes.empty()) return {0.0, 1.0, true};
  const auto ranks = doubled_ranks(sizes);
  int sum = 0;
  double squares = 0.0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    sum += positive[i] ? ranks[i] : 0;
    squares += 0.25 * ranks[i] * ranks[i];
  }
  RankTest test{0.5 * sum, 1.0, sizes.size() <= kExactPairs};
  if (test.exact) {
    const auto mass = sum_of_halves(ranks);
    double lower = 0.0, upper = 0.0;
    for (std::size_t s = 0; s < mass.size(); ++s) {
      if (s <= static_cast<std::size_t>(sum)) lower += mass[s];
      if (s >= static_cast<std::size_t>(sum)) upper += mass[s];
    }
    test.p = std::min(1.0, 2.0 * std::min(lower, upper));
    return test;
  }
  const auto n = static_cast<double>(sizes.size());
  const double distance = std::max(0.0, std::abs(test.statistic - n * (n + 1.0) / 4.0) - 0.5);
  test.p = std::min(1.0, 2.0 * normal_cdf(-distance / std::sqrt(squares / 4.0)));
  return test;
}

Shift paired_shift(std::span<const double> differences, double confidence) {
  const std::size_t n = differences.size();
  const double tail = 0.5 * (1.0 - confidence);
  if (n > kExactPairs) return of_many_pairs(differences, tail);
  std::vector<double> averages;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) averages.push_back(0.5 * (differences[i] + differences[j]));
  return shift_of(std::move(averages), signed_rank_cdf(n), tail);
}

}  // namespace bench
