#include "training/detection/suppression.h"

#include <algorithm>
#include <cmath>

namespace bench::training {

std::vector<Detection> suppress(std::vector<Detection> detections,
                                const SuppressionLimits& limits) {
  std::erase_if(detections, [](const Detection& one) { return std::isnan(one.score); });
  std::ranges::stable_sort(detections, std::ranges::greater{}, &Detection::score);
  if (detections.size() > limits.considered) detections.resize(limits.considered);
  std::vector<Detection> kept;
  for (const Detection& one : detections) {
    if (kept.size() == limits.most) break;
    const bool repeats = std::ranges::any_of(kept, [&](const Detection& better) {
      return better.label == one.label && overlap(better.box, one.box) > limits.overlap;
    });
    if (!repeats) kept.push_back(one);
  }
  return kept;
}

}  // namespace bench::training
