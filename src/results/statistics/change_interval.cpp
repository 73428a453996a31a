#include "results/statistics/change_interval.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"

namespace bench {

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

}  // namespace bench
