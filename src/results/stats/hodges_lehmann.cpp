#include "results/stats/hodges_lehmann.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

constexpr int kMostHalvings = 200;

/// The smallest value of [low, high] that at least `rank` pairs do not exceed: bisects until no
/// number is left between, which is the pair's exact value (near zero within 1e-60 of the span).
template <class Count>
double least_reaching(double low, double high, std::size_t rank, const Count& count) {
  if (count(low) >= rank) return low;
  for (int i = 0; i < kMostHalvings; ++i) {
    const double middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) break;
    (count(middle) >= rank ? high : low) = middle;
  }
  return high;
}

}  // namespace

double nth_difference(std::span<const double> a, std::span<const double> b, std::size_t rank) {
  const auto not_above = [&](double limit) {
    std::size_t count = 0, j = 0;
    for (const double x : a) {  // as x grows, so do the y that fit
      while (j < b.size() && b[j] - x <= limit) ++j;
      count += j;
    }
    return count;
  };
  return least_reaching(b.front() - a.back(), b.back() - a.front(), rank, not_above);
}

double nth_pair_mean(std::span<const double> x, std::size_t rank) {
  const auto not_above = [&](double limit) {
    std::size_t count = 0, end = x.size();
    for (std::size_t i = 0; i < x.size(); ++i) {  // as x_i grows, fewer partners fit
      while (end > 0 && 0.5 * (x[i] + x[end - 1]) > limit) --end;
      if (end <= i) break;
      count += end - i;
    }
    return count;
  };
  return least_reaching(x.front(), x.back(), rank, not_above);
}

namespace {

constexpr std::size_t kExactSide = 50;

/// The rank-th smallest, from 1. Reorders.
double order_statistic(std::vector<double>& values, std::size_t rank) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Shift with_interval(std::vector<double> candidates, std::size_t rank, double confidence) {
  Shift shift;
  shift.estimate = median(candidates);
  if (rank == 0 || candidates.empty() || 2 * rank > candidates.size() + 1) return shift;
  shift.low = order_statistic(candidates, rank);
  shift.high = order_statistic(candidates, candidates.size() + 1 - rank);
  shift.confidence = confidence;
  return shift;
}

std::size_t normal_rank_of(std::size_t candidates, double deviation, double tail) {
  const double rank = 0.5 * static_cast<double>(candidates) + normal_quantile(tail) * deviation;
  return rank < 1.0 ? 0 : static_cast<std::size_t>(rank);
}

std::vector<double> ascending_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

/// For more than kExactSide values on a side.
Shift of_many(std::span<const double> a, std::span<const double> b, double tail) {
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const auto x = ascending_of(a), y = ascending_of(b);
  return shift_by_selection(
      a.size() * b.size(), [&](std::size_t rank) { return nth_difference(x, y, rank); },
      std::sqrt(n * m * (n + m + 1.0) / 12.0), tail);
}

}  // namespace

Shift shift_of(std::vector<double> candidates, const std::vector<double>& cdf, double tail) {
  // Rounding must not lose the rank of a tail that is met exactly.
  const auto rank =
      static_cast<std::size_t>(std::ranges::upper_bound(cdf, tail * (1.0 + 1e-12)) - cdf.begin());
  return with_interval(std::move(candidates), rank, rank == 0 ? 0.0 : 1.0 - 2.0 * cdf[rank - 1]);
}

Shift shift_of_normal(std::vector<double> candidates, double deviation, double tail) {
  const std::size_t rank = normal_rank_of(candidates.size(), deviation, tail);
  return with_interval(std::move(candidates), rank, 1.0 - 2.0 * tail);
}

Shift shift_by_selection(std::size_t candidates, const std::function<double(std::size_t)>& nth,
                         double deviation, double tail) {
  Shift shift;
  if (candidates == 0) return shift;
  const double lower = nth((candidates + 1) / 2);
  shift.estimate = candidates % 2 == 1 ? lower : 0.5 * (lower + nth(candidates / 2 + 1));
  const std::size_t rank = normal_rank_of(candidates, deviation, tail);
  if (rank == 0) return shift;
  shift.low = nth(rank);
  shift.high = nth(candidates + 1 - rank);
  shift.confidence = 1.0 - 2.0 * tail;
  return shift;
}

Shift hodges_lehmann(std::span<const double> a, std::span<const double> b, double confidence) {
  const double tail = 0.5 * (1.0 - confidence);
  if (std::max(a.size(), b.size()) > kExactSide) return of_many(a, b, tail);
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double y : b)
    for (const double x : a) differences.push_back(y - x);
  return shift_of(std::move(differences), mann_whitney_cdf(a.size(), b.size()), tail);
}

}  // namespace bench
