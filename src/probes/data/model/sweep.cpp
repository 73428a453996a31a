#include "probes/data/model/sweep.h"

#include <algorithm>
#include <cmath>

namespace bench::data {
namespace {

constexpr double kEnough = 0.95;  // of the fastest
constexpr double kSpare = 1.2;

}  // namespace

std::vector<int> worker_counts(int cores) {
  std::vector<int> counts = {0};
  for (int count = 1; count < cores; count *= 2) counts.push_back(count);
  counts.push_back(std::max(cores, 1));
  return counts;
}

std::optional<SweepPoint> recommended(const std::vector<SweepPoint>& points) {
  if (points.empty()) return std::nullopt;
  const double fastest =
      std::ranges::max(points, {}, &SweepPoint::samples_per_second).samples_per_second;
  std::optional<SweepPoint> best;
  for (const SweepPoint& point : points)
    if (point.samples_per_second >= kEnough * fastest && (!best || point.workers < best->workers))
      best = point;
  return best;
}

int workers_needed(double samples_per_second, double cpu_s) {
  return std::max(1, static_cast<int>(std::ceil(samples_per_second * cpu_s * kSpare)));
}

}  // namespace bench::data
