#include "results/statistics/rank_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace bench {
namespace {

constexpr std::array<std::pair<double, double>, 16> kRankCuts = {{{8, 2.3094},
                                                                  {10, 2.6112},
                                                                  {12, 2.8823},
                                                                  {15, 3.1820},
                                                                  {20, 3.3808},
                                                                  {25, 3.4996},
                                                                  {30, 3.5979},
                                                                  {40, 3.6995},
                                                                  {50, 3.7626},
                                                                  {60, 3.8310},
                                                                  {80, 3.9059},
                                                                  {100, 3.9889},
                                                                  {150, 4.0246},
                                                                  {200, 4.0648},
                                                                  {300, 4.1388},
                                                                  {500, 4.2154}}};

struct Ranks {
  std::vector<double> of_value;  // mid-ranks, from 1
  double ties = 0.0;             // sum of t^3 - t over groups of equal values
};

Ranks ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Ranks result{std::vector<double>(values.size())};
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i)
      result.of_value[order[i]] = 0.5 * static_cast<double>(first + 1 + end);
    const auto equal = static_cast<double>(end - first);
    result.ties += equal * equal * equal - equal;
    first = end;
  }
  return result;
}

/// z of a split after `before` values with rank sum `sum`.
double split_z(double n, double before, double sum, double ties) {
  const double variance = before * (n - before) / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
  return variance > 0.0 ? std::abs(sum - before * (n + 1.0) / 2.0) / std::sqrt(variance) : 0.0;
}

}  // namespace

RankScan rank_scan(std::span<const double> values) {
  RankScan result;
  if (values.size() < 2 * kLeastSide) return result;
  const Ranks ranks = ranks_of(values);
  double sum = 0.0;
  for (std::size_t at = 1; at + kLeastSide <= values.size(); ++at) {
    sum += ranks.of_value[at - 1];
    if (at < kLeastSide) continue;
    const double z =
        split_z(static_cast<double>(values.size()), static_cast<double>(at), sum, ranks.ties);
    if (z > result.z) result = {z, at};
  }
  return result;
}

double rank_scan_at(std::span<const double> values, std::size_t at) {
  const Ranks ranks = ranks_of(values);
  const double sum = std::accumulate(ranks.of_value.begin(),
                                     ranks.of_value.begin() + static_cast<std::ptrdiff_t>(at), 0.0);
  return split_z(static_cast<double>(values.size()), static_cast<double>(at), sum, ranks.ties);
}

double rank_scan_cut(std::size_t n) {
  const auto length = static_cast<double>(n);
  if (length < kRankCuts.front().first) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < kRankCuts.size(); ++i) {
    const auto [below, low] = kRankCuts[i - 1];
    const auto [above, high] = kRankCuts[i];
    if (length > above) continue;
    const double part = std::log(length / below) / std::log(above / below);
    return low + part * (high - low);
  }
  return kRankCuts.back().second;
}

}  // namespace bench
