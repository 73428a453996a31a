#include "results/stats/false_discovery.h"

#include <algorithm>
#include <numeric>

namespace bench {
namespace {

std::vector<double> adjusted(std::span<const double> p, double factor) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> result(p.size());
  double least = 1.0;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least =
        std::min(least, p[i] * factor * static_cast<double>(p.size()) / static_cast<double>(rank));
    result[i] = least;
  }
  return result;
}

}  // namespace

std::vector<double> adjusted_bh(std::span<const double> p) { return adjusted(p, 1.0); }

std::vector<double> adjusted_by(std::span<const double> p) {
  double factor = 0.0;
  for (std::size_t i = 1; i <= p.size(); ++i) factor += 1.0 / static_cast<double>(i);
  return adjusted(p, factor);
}

std::vector<bool> rejected(std::span<const double> levels, double q) {
  std::vector<bool> result;
  for (const double level : adjusted_bh(levels)) result.push_back(level <= q);
  return result;
}

}  // namespace bench
