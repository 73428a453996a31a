#include "results/statistics/pair_selection.h"

#include <algorithm>

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

}  // namespace bench
