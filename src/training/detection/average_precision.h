// The mean average precision of object detection as COCO defines it (cocoeval.py of pycocotools,
// with which a test compares): precision at 101 recalls, over ten thresholds of the overlap.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "training/detection/box.h"

namespace bench::training {

/// One image: its objects and what was detected in it.
struct JudgedImage {
  std::vector<Truth> truths = {};
  std::vector<Detection> detections = {};
};

struct PrecisionOptions {
  int most = 100;  // detections of an image and class that count, the best ones
  /// Areas of objects from which they are medium and large.
  std::array<double, 2> areas = {32.0 * 32.0, 96.0 * 96.0};
};

/// NaN where there is nothing to detect.
struct MeanPrecision {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double all = kNone;                                   // mAP at overlaps .50:.05:.95
  double at_50 = kNone, at_75 = kNone;                  // at one overlap
  double small = kNone, medium = kNone, large = kNone;  // by area
  double recall = kNone;                                // the highest, mean over overlaps
};

MeanPrecision mean_precision(const std::vector<JudgedImage>& images, int classes,
                             const PrecisionOptions& options = {});

}  // namespace bench::training
