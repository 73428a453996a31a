#include "results/regression/segments.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/statistics/trend.h"

namespace bench {
namespace {

void set_levels(Segments& segments, std::span<const double> values) {
  segments.levels.clear();
  for (std::size_t i = 0; i < segments.begins.size(); ++i)
    segments.levels.push_back(median(
        values.subspan(segments.begins[i], segments.end(i, values.size()) - segments.begins[i])));
}

/// How much the change at the beginning of segment i amounts to, in thresholds; below one it is
/// none, and none is one of a segment too short.
double weight(const Segments& segments, std::size_t i, std::size_t n, const Thresholds& at_least) {
  const double distance = segments.levels[i] - segments.levels[i - 1];
  const double weight = distance > 0.0 ? distance / at_least.up : -distance / at_least.down;
  const auto length = [&](std::size_t j) { return segments.end(j, n) - segments.begins[j]; };
  const bool too_short = length(i) < kShortestLevel || length(i - 1) < kShortestLevel;
  // What is too short goes first, by the side to which it is nearer.
  return too_short ? -1.0 / (1e-12 + std::abs(distance)) : weight;
}

}  // namespace

Segments segments_of(L1Segmentation& steps, std::span<const double> values, double sigma,
                     double inflation, const Thresholds& thresholds) {
  Segments segments;
  if (sigma > 0.0)
    for (const std::size_t at :
         steps.boundaries(values, l1_penalty(sigma, values.size(), inflation)))
      segments.begins.push_back(at);
  set_levels(segments, values);
  while (segments.begins.size() > 1) {
    std::size_t least = 1;
    const auto weight_at = [&](std::size_t i) {
      return weight(segments, i, values.size(), thresholds);
    };
    for (std::size_t i = 2; i < segments.begins.size(); ++i)
      if (weight_at(i) < weight_at(least)) least = i;
    if (weight_at(least) > 1.0) break;
    segments.begins.erase(segments.begins.begin() + static_cast<std::ptrdiff_t>(least));
    set_levels(segments, values);
  }
  return segments;
}

double rise_of_line(std::span<const double> values, const Segments& segments, double penalty) {
  const std::size_t steps = segments.begins.size() - 1;
  if (steps < 2) return 0.0;
  const bool rising = segments.levels[1] > segments.levels[0];
  double cost = penalty * static_cast<double>(steps);
  for (std::size_t i = 0; i < segments.begins.size(); ++i) {
    if (i > 0 && (segments.levels[i] > segments.levels[i - 1]) != rising) return 0.0;
    cost += l1_cost(
        values.subspan(segments.begins[i], segments.end(i, values.size()) - segments.begins[i]));
  }
  const double slope = trend(values).slope;
  std::vector<double> rest(values.begin(), values.end());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= slope * static_cast<double>(i);
  return l1_cost(rest) + penalty < cost ? slope * static_cast<double>(values.size() - 1) : 0.0;
}

}  // namespace bench
