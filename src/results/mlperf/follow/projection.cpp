#include "results/mlperf/follow/projection.h"

#include <algorithm>
#include <cmath>

namespace bench::mlperf {
namespace {

constexpr double kFarthest = 100.0;  // times the progress so far: beyond, a line says nothing

struct Line {
  double at_zero = 0.0;  // where ln(progress) = 0
  double slope = 0.0;
};

Line line_through(std::span<const Look> looks) {
  const auto n = static_cast<double>(looks.size());
  double mean_x = 0.0, mean_y = 0.0, sxx = 0.0, sxy = 0.0;
  for (const Look& look : looks) {
    mean_x += std::log(look.progress) / n;
    mean_y += look.quality / n;
  }
  for (const Look& look : looks) {
    const double x = std::log(look.progress) - mean_x;
    sxx += x * x;
    sxy += x * (look.quality - mean_y);
  }
  const double slope = sxy / sxx;
  return {mean_y - slope * mean_x, slope};
}

bool usable(std::span<const Look> looks) {
  for (std::size_t i = 0; i < looks.size(); ++i)
    if (!std::isfinite(looks[i].quality) || !(looks[i].progress > 0.0) ||
        (i > 0 && !(looks[i].progress > looks[i - 1].progress)))
      return false;
  return true;
}

Projection none(std::string why) { return {{}, {}, std::move(why)}; }

}  // namespace

Projection project(std::span<const Look> looks, double target, bool lower_is_better) {
  if (looks.size() < 3) return none("at least three evaluations are needed");
  looks = looks.last(std::min(looks.size(), kLooksForProjection));
  if (!usable(looks)) return none("the evaluations are not in increasing order");
  const Line line = line_through(looks);
  if (lower_is_better ? !(line.slope < 0.0) : !(line.slope > 0.0))
    return none("the last evaluations do not approach the target");
  const Look& first = looks.front();
  const Look& last = looks.back();
  const double crossing = std::exp((target - line.at_zero) / line.slope);
  if (!(crossing <= last.progress * kFarthest)) return none("the target is too far away to project");
  const double step = last.progress - looks[looks.size() - 2].progress;
  const double steps = std::max(1.0, std::ceil((crossing - last.progress) / step));
  const double progress = last.progress + steps * step;
  const double pace = (last.time_ms - first.time_ms) / (last.progress - first.progress);
  return {progress, last.time_ms + (progress - last.progress) * pace, {}};
}

}  // namespace bench::mlperf
