#include "probes/training/trainer/convergence.h"

#include <algorithm>

namespace bench::training {

std::optional<double> samples_to_target(const std::vector<CurvePoint>& curve,
                                        std::optional<double> target) {
  if (curve.empty() || !meets(curve.back().gap, target)) return {};
  const CurvePoint& last = curve.back();
  if (curve.size() < 2) return last.samples;
  const CurvePoint& before = curve[curve.size() - 2];
  if (!(before.gap > *target)) return last.samples;
  const double part = (before.gap - *target) / (before.gap - last.gap);
  return before.samples + std::clamp(part, 0.0, 1.0) * (last.samples - before.samples);
}

}  // namespace bench::training
