#include "training/optimizers/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bench::training {
namespace {

/// Progress from `begin` to `end`, as a share.
double progress(double step, double begin, double end) {
  return end > begin ? std::clamp((step - begin) / (end - begin), 0.0, 1.0) : 0.0;
}

double share(const Schedule& s, double step) {
  const double end = static_cast<double>(s.horizon), warm = static_cast<double>(s.warmup);
  switch (s.shape) {
    case Schedule::Shape::constant:
      return 1.0;
    case Schedule::Shape::linear:
      return 1.0 - progress(step, warm, end);
    case Schedule::Shape::cosine:
      return 0.5 * (1.0 + std::cos(std::numbers::pi * progress(step, warm, end)));
    case Schedule::Shape::linear_last:
      return 1.0 - progress(step, end * (1.0 - s.last), end);
  }
  return 1.0;
}

}  // namespace

double Schedule::rate(std::int64_t step) const {
  const double up =
      step < warmup ? static_cast<double>(step + 1) / static_cast<double>(warmup) : 1.0;
  return peak * up * (floor + (1.0 - floor) * share(*this, static_cast<double>(step)));
}

}  // namespace bench::training
