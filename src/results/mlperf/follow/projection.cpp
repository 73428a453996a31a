#include "results/mlperf/follow/projection.h"

#include <algorithm>
#include <cmath>

namespace bench::mlperf {
namespace {

constexpr double kMaxExtrapolation = 100.0;  // limit of the extrapolation, relative to the progress so far

struct Line {
  double at_zero = 0.0;  // value at ln(progress) = 0
  double slope = 0.0;
};

Line line_through(std::span<const EvaluationPoint> points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0.0, mean_y = 0.0, sxx = 0.0, sxy = 0.0;
  for (const EvaluationPoint& point : points) {
    mean_x += std::log(point.progress) / n;
    mean_y += point.quality / n;
  }
  for (const EvaluationPoint& point : points) {
    const double x = std::log(point.progress) - mean_x;
    sxx += x * x;
    sxy += x * (point.quality - mean_y);
  }
  const double slope = sxy / sxx;
  return {mean_y - slope * mean_x, slope};
}

bool usable(std::span<const EvaluationPoint> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isfinite(points[i].quality) || !(points[i].progress > 0.0) ||
        (i > 0 && !(points[i].progress > points[i - 1].progress)))
      return false;
  return true;
}

Projection none(std::string why) { return {{}, {}, std::move(why)}; }

}  // namespace

Projection project(std::span<const EvaluationPoint> points, double target, bool lower_is_better) {
  if (points.size() < 3) return none("at least three evaluations are needed");
  points = points.last(std::min(points.size(), kPointsForProjection));
  if (!usable(points)) return none("the evaluations are not in increasing order");
  const Line line = line_through(points);
  if (lower_is_better ? !(line.slope < 0.0) : !(line.slope > 0.0))
    return none("the last evaluations do not approach the target");
  const EvaluationPoint& first = points.front();
  const EvaluationPoint& last = points.back();
  const double crossing = std::exp((target - line.at_zero) / line.slope);
  if (!(crossing <= last.progress * kMaxExtrapolation)) return none("the target is too far away to project");
  const double step = last.progress - points[points.size() - 2].progress;
  const double steps = std::max(1.0, std::ceil((crossing - last.progress) / step));
  const double progress = last.progress + steps * step;
  const double pace = (last.time_ms - first.time_ms) / (last.progress - first.progress);
  return {progress, last.time_ms + (progress - last.progress) * pace, {}};
}

}  // namespace bench::mlperf
