#include "results/stats/false_discovery.h"

#include <algorithm>
#include <numeric>

namespace bench {

std::vector<double> adjusted_bh(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> result(p.size());
  double least = 1.0;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    result[i] = least;
  }
  return result;
}

std::vector<bool> rejected(std::span<const double> levels, double q) {
  std::vector<bool> result;
  for (const double level : adjusted_bh(levels)) result.push_back(level <= q);
  return result;
}

}  // namespace bench
