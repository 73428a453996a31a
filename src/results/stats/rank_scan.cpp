#include "results/stats/rank_scan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

constexpr double kTrendZ = 1.959963984540054;  // two-sided 95 %

double n_term(double n) { return n * (n - 1.0) * (2.0 * n + 5.0); }

/// Variance of S without a trend.
double s_variance(std::span<const double> values) {
  std::map<double, double> equal;
  for (const double value : values) equal[value] += 1.0;
  double sum = n_term(static_cast<double>(values.size()));
  for (const auto& [value, times] : equal) sum -= n_term(times);
  return sum / 18.0;
}

}  // namespace

Trend trend(std::span<const double> values, double inflation) {
  Trend result;
  if (values.size() < 3) {
    result.slope = result.low = result.high = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      const double rise = values[j] - values[i];
      slopes.push_back(rise / static_cast<double>(j - i));
      result.s += rise > 0.0 ? 1.0 : (rise < 0.0 ? -1.0 : 0.0);
    }
  const double sigma = std::sqrt(s_variance(values) * inflation);
  const auto pairs = static_cast<double>(slopes.size());
  const auto ranked = [&](double rank) {
    const double index = std::clamp(std::nearbyint(rank), 0.0, pairs - 1.0);
    const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(slopes.begin(), at, slopes.end());
    return *at;
  };
  result.slope = median(slopes);
  result.high = ranked((pairs + kTrendZ * sigma) / 2.0);
  result.low = ranked((pairs - kTrendZ * sigma) / 2.0 - 1.0);
  const double beyond = std::max(0.0, std::abs(result.s) - 1.0);
  if (sigma > 0.0) result.p = 2.0 * normal_cdf(-beyond / sigma);
  return result;
}

double change_interval_cut(double confidence) {
  return -2.0 * std::log(1.0 - std::sqrt(confidence));
}

std::vector<double> split_squares(std::span<const double> values) {
  const double centre = mean(values);  // differences of large sums would lose small squares
  const auto n = static_cast<double>(values.size());
  double total = 0.0;
  for (const double value : values) total += (value - centre) * (value - centre);
  std::vector<double> result;
  double sum = 0.0;  // of the left side; the right one has the negative
  for (std::size_t at = 1; at < values.size(); ++at) {
    sum += values[at - 1] - centre;
    const auto left = static_cast<double>(at);
    result.push_back(std::max(0.0, total - sum * sum / left - sum * sum / (n - left)));
  }
  return result;
}

ChangeInterval change_interval(std::span<const double> values, double inflation,
                               double confidence) {
  const std::vector<double> squares = split_squares(values);
  const auto best = std::ranges::min_element(squares);
  const double variance = *best / static_cast<double>(values.size() - 2);
  const double most = *best + change_interval_cut(confidence) * inflation * variance;
  ChangeInterval result;
  result.at = static_cast<std::size_t>(best - squares.begin()) + 1;
  for (std::size_t i = 0; i < squares.size(); ++i)
    if (squares[i] <= most) result.set.push_back(i + 1);
  result.low = result.set.front();
  result.high = result.set.back();
  return result;
}

namespace {

constexpr std::pair<double, double> kRankCuts[] = {
    {8, 2.3094},   {10, 2.6112},  {12, 2.8823},  {15, 3.1820}, {20, 3.3808}, {25, 3.4996},
    {30, 3.5979},  {40, 3.6995},  {50, 3.7626},  {60, 3.8310}, {80, 3.9059}, {100, 3.9889},
    {150, 4.0246}, {200, 4.0648}, {300, 4.1388}, {500, 4.2154}};

/// z of a split after `before` values with rank sum `sum`.
double split_z(double n, double before, double sum, double ties) {
  const double variance = before * (n - before) / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
  return variance > 0.0 ? std::abs(sum - before * (n + 1.0) / 2.0) / std::sqrt(variance) : 0.0;
}

}  // namespace

RankScan rank_scan(std::span<const double> values) {
  RankScan result;
  if (values.size() < 2 * kLeastSide) return result;
  const std::vector<int> ranks = doubled_ranks(values);
  const double ties = tie_term(ranks);
  double sum = 0.0;
  for (std::size_t at = 1; at + kLeastSide <= values.size(); ++at) {
    sum += 0.5 * ranks[at - 1];
    if (at < kLeastSide) continue;
    const double z =
        split_z(static_cast<double>(values.size()), static_cast<double>(at), sum, ties);
    if (z > result.z) result = {z, at};
  }
  return result;
}

double rank_scan_cut(std::size_t n) {
  const auto length = static_cast<double>(n);
  if (length < kRankCuts[0].first) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < std::size(kRankCuts); ++i) {
    const auto [below, low] = kRankCuts[i - 1];
    const auto [above, high] = kRankCuts[i];
    if (length > above) continue;
    const double part = std::log(length / below) / std::log(above / below);
    return low + part * (high - low);
  }
  return std::rbegin(kRankCuts)->second;
}

}  // namespace bench
