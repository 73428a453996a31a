// Non-maximum suppression: of detections of one class that overlap, the best one stays.
#pragma once

#include <cstddef>
#include <vector>

#include "training/detection/box.h"

namespace bench::training {

struct SuppressionLimits {
  double overlap = 0.5;    // detections that overlap a better one by more than this are dropped
  std::size_t most = 100;  // of an image
  std::size_t considered = 1000;  // the best ones of an image
};

/// What stays, the highest score first; of equal scores the first comes first. Detections whose
/// score is not a number are dropped.
std::vector<Detection> suppress(std::vector<Detection> detections,
                                const SuppressionLimits& limits = {});

}  // namespace bench::training
