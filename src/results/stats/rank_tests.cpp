#include "results/stats/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "results/stats/distributions.h"
#include "results/stats/hodges_lehmann.h"

namespace bench {
namespace {

constexpr double kTail = 0.025;
constexpr std::size_t kExactStratum = 50;

/// Distribution of the sum of two independent counts.
std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  return sum;
}

std::vector<double> mass_of(const std::vector<double>& cdf) {
  std::vector<double> mass(cdf.size());
  std::adjacent_difference(cdf.begin(), cdf.end(), mass.begin());
  return mass;
}

std::vector<double> cdf_of_sum(std::span<const Stratum> strata) {
  std::vector<double> mass = {1.0};
  for (const Stratum& stratum : strata)
    mass = convolved(mass, mass_of(mann_whitney_cdf(stratum.a.size(), stratum.b.size())));
  std::partial_sum(mass.begin(), mass.end(), mass.begin());
  return mass;
}

double variance_of_sum(std::span<const Stratum> strata) {
  double sum = 0.0;
  for (const Stratum& stratum : strata) {
    const auto n = static_cast<double>(stratum.a.size()), m = static_cast<double>(stratum.b.size());
    sum += n * m * (n + m + 1.0) / 12.0;
  }
  return sum;
}

/// Distance of the count of positive differences from its centre; a tie counts one half.
double distance_from_middle(const std::vector<double>& differences) {
  double above = 0.0;
  for (const double d : differences) above += d > 0.0 ? 1.0 : d == 0.0 ? 0.5 : 0.0;
  return std::abs(above - 0.5 * static_cast<double>(differences.size()));
}

}  // namespace

StratifiedShift stratified_shift(std::span<const Stratum> strata) {
  if (strata.size() == 1)
    return {hodges_lehmann(strata[0].a, strata[0].b), mann_whitney(strata[0].a, strata[0].b).p};
  std::vector<double> differences;
  std::size_t largest = 0;
  for (const Stratum& stratum : strata) {
    largest = std::max({largest, stratum.a.size(), stratum.b.size()});
    for (const double y : stratum.b)
      for (const double x : stratum.a) differences.push_back(y - x);
  }
  if (differences.empty()) return {};
  const double distance = distance_from_middle(differences);
  StratifiedShift found;
  if (largest <= kExactStratum) {
    const auto cdf = cdf_of_sum(strata);
    const double below = 0.5 * static_cast<double>(differences.size()) - distance;
    found.p = std::min(1.0, 2.0 * cdf[static_cast<std::size_t>(std::ceil(below))]);
    found.shift = shift_of(std::move(differences), cdf, kTail);
  } else {
    const double deviation = std::sqrt(variance_of_sum(strata));
    found.p = std::min(1.0, 2.0 * normal_cdf(-std::max(0.0, distance - 0.5) / deviation));
    found.shift = shift_of_normal(std::move(differences), deviation, kTail);
  }
  return found;
}

namespace {

constexpr std::size_t kExactPairs = 50;

double two_sided(double lower, double upper) { return std::min(1.0, 2.0 * std::min(lower, upper)); }

/// `mass`: of each sum of ranks.
double exact_p(const std::vector<double>& mass, int sum) {
  const auto at = mass.begin() + sum;
  return two_sided(std::accumulate(mass.begin(), at + 1, 0.0),
                   std::accumulate(at, mass.end(), 0.0));
}

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
    test.p = exact_p(sum_of_halves(ranks), sum);
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

namespace {

constexpr std::size_t kExactWithoutTies = 50;
constexpr std::size_t kExactWithTies = 25;

bool has_ties(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

double exact_without_ties(double u, std::size_t n, std::size_t m) {
  const auto cdf = mann_whitney_cdf(n, m);
  const auto at = static_cast<std::size_t>(u);
  return two_sided(cdf[at], cdf[n * m - at]);  // it is symmetric
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
          ties ? exact_p(sum_of_chosen(both.ranks, n), both.sum) : exact_without_ties(both.u, n, m),
          true};
}

RankTest mann_whitney_by_normal(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return {};
  const Ranked both = ranked(a, b);
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return {both.u, by_normal(both.u, n, m, tie_term(both.ranks)), false};
}

}  // namespace bench
