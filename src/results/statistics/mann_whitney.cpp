#include "results/statistics/mann_whitney.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "results/statistics/distributions.h"
#include "results/statistics/rank_distributions.h"

namespace bench {
namespace {

constexpr std::size_t kExactWithoutTies = 50;
constexpr std::size_t kExactWithTies = 25;

bool has_ties(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

/// Sum over groups of equal ranks of t^3 - t.
double tie_term(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  double sum = 0.0;
  for (auto begin = ranks.begin(); begin != ranks.end();) {
    const auto end = std::upper_bound(begin, ranks.end(), *begin);
    const auto t = static_cast<double>(end - begin);
    sum += t * t * t - t;
    begin = end;
  }
  return sum;
}

double two_sided(double lower, double upper) {
  return std::min(1.0, 2.0 * std::min(lower, upper));
}

double exact_without_ties(double u, std::size_t n, std::size_t m) {
  const auto cdf = mann_whitney_cdf(n, m);
  const auto at = static_cast<std::size_t>(u);
  return two_sided(cdf[at], cdf[n * m - at]);  // it is symmetric
}

double exact_with_ties(int sum, std::span<const int> ranks, std::size_t n) {
  const auto mass = sum_of_chosen(ranks, n);
  double lower = 0.0, upper = 0.0;
  for (std::size_t s = 0; s < mass.size(); ++s) {
    if (s <= static_cast<std::size_t>(sum)) lower += mass[s];
    if (s >= static_cast<std::size_t>(sum)) upper += mass[s];
  }
  return two_sided(lower, upper);
}

double by_normal(double u, double n, double m, double ties) {
  const double all = n + m;
  const double variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
  if (!(variance > 0.0)) return 1.0;
  const double distance = std::max(0.0, std::abs(u - 0.5 * n * m) - 0.5);
  return std::min(1.0, 2.0 * normal_cdf(-distance / std::sqrt(variance)));
}

/// Both samples ranked together.
struct Ranked {
  std::vector<int> ranks;  // doubled; those of a first
  int sum = 0;             // of a
  double u = 0.0;
};

Ranked ranked(std::span<const double> a, std::span<const double> b) {
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  Ranked result{doubled_ranks(both)};
  for (std::size_t i = 0; i < a.size(); ++i) result.sum += result.ranks[i];
  result.u = 0.5 * result.sum - 0.5 * static_cast<double>(a.size() * (a.size() + 1));
  return result;
}

}  // namespace

RankTest mann_whitney(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = a.size(), m = b.size();
  if (n == 0 || m == 0) return {};
  const Ranked both = ranked(a, b);
  const bool ties = has_ties(both.ranks);
  if (std::max(n, m) > (ties ? kExactWithTies : kExactWithoutTies))
    return mann_whitney_by_normal(a, b);
  return {both.u,
          ties ? exact_with_ties(both.sum, both.ranks, n) : exact_without_ties(both.u, n, m), true};
}

RankTest mann_whitney_by_normal(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return {};
  const Ranked both = ranked(a, b);
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return {both.u, by_normal(both.u, n, m, tie_term(both.ranks)), false};
}

}  // namespace bench
