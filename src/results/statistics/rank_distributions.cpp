#include "results/statistics/rank_distributions.h"

#include <algorithm>
#include <numeric>

namespace bench {
namespace {

std::vector<double> cumulated(std::vector<double> mass) {
  std::partial_sum(mass.begin(), mass.end(), mass.begin());
  return mass;
}

int sum_of(std::span<const int> ranks) { return std::accumulate(ranks.begin(), ranks.end(), 0); }

}  // namespace

std::vector<double> mann_whitney_cdf(std::size_t n, std::size_t m) {
  // The generating function of U is the Gaussian binomial coefficient: the product over i of (1 -
  // q^(m + i)) / (1 - q^i), normalised to mass one at each step.
  std::vector<double> mass(n * m + 1, 0.0);
  mass[0] = 1.0;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t u = n * m; u + 1 > m + i; --u) mass[u] -= mass[u - m - i];
    for (std::size_t u = i; u <= n * m; ++u) mass[u] += mass[u - i];
    const double scale = static_cast<double>(i) / static_cast<double>(m + i);
    for (double& one : mass) one *= scale;
  }
  return cumulated(std::move(mass));
}

std::vector<double> signed_rank_cdf(std::size_t n) {
  std::vector<int> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 1);
  return cumulated(sum_of_halves(ranks));
}

std::vector<double> sum_of_chosen(std::span<const int> ranks, std::size_t chosen) {
  const auto sums = static_cast<std::size_t>(sum_of(ranks)) + 1;
  // mass[k][s]: probability that, of the ranks seen so far, k are chosen and sum to s.
  std::vector<std::vector<double>> mass(chosen + 1, std::vector<double>(sums, 0.0));
  mass[0][0] = 1.0;
  std::size_t seen = 0, most = 0;
  for (const int rank : ranks) {
    const auto add = static_cast<std::size_t>(rank);
    most += add;
    ++seen;
    const auto left = static_cast<double>(ranks.size() - seen + 1);
    for (std::size_t k = std::min(seen, chosen) + 1; k-- > 0;) {
      // Of the remaining ranks, chosen - k are still to be chosen.
      const double stay = 1.0 - static_cast<double>(chosen - k) / left;
      const double come = k == 0 ? 0.0 : static_cast<double>(chosen - k + 1) / left;
      for (std::size_t s = most + 1; s-- > 0;)
        mass[k][s] = stay * mass[k][s] + (k > 0 && s >= add ? come * mass[k - 1][s - add] : 0.0);
    }
  }
  return mass[chosen];
}

std::vector<double> sum_of_halves(std::span<const int> ranks) {
  std::vector<double> mass(static_cast<std::size_t>(sum_of(ranks)) + 1, 0.0);
  mass[0] = 1.0;
  std::size_t most = 0;
  for (const int rank : ranks) {
    const auto add = static_cast<std::size_t>(rank);
    most += add;
    for (std::size_t s = most + 1; s-- > 0;)
      mass[s] = 0.5 * (mass[s] + (s >= add ? mass[s - add] : 0.0));
  }
  return mass;
}

std::vector<int> doubled_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<int> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<int>(begin + end + 1);
  }
  return ranks;
}

}  // namespace bench
