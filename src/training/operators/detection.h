// Operators of one-stage object detectors. An anchor is a box of which the model says, by a logit
// for each class, what is in it, and by four numbers, where exactly.
// All operators check the shapes of their inputs and throw Error(internal) with both.
#pragma once

#include <vector>

#include "training/engine/graph.h"
#include "training/operators/convolution.h"

namespace bench::training {

/// What the heads say of one level: columns are anchors x classes, and anchors x 4.
struct LevelPredictions {
  Map classes, boxes;
};

/// [images x anchors, classes + 4]: of each image level by level, pixel by pixel, anchor by anchor.
Var join_levels(const std::vector<LevelPredictions>& levels, std::int64_t classes);

/// The loss of RetinaNet (arXiv 1708.02002), f64 [images, 1]: weight x the sum over an image's
/// anchors of sigmoid focal losses and smooth L1 losses. predictions as from join_levels; targets
/// as AnchorTargets: classes int32 [rows, 1], boxes [rows, 4] and weights [images, 1] in the
/// accumulator's type. Training minimizes StepScalars::gradient_scale x the sum of the losses, and
/// overwrites the predictions with their gradient; in evaluation they stay.
struct DetectionTargets {
  Var classes, boxes, weights;
};
Var detection_loss(Var predictions, const DetectionTargets& targets,
                   const DetectionLossShape& shape = {});

}  // namespace bench::training
