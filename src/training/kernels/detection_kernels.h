// Kernels of one-stage object detectors: predictions of several maps in one tensor, and the losses
// of anchors.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// Copies blocks of rows between tensors of other shapes: element (b, r, c) goes from
/// from_first + b from_block + r from_row + c to to_first + b to_block + r to_row + c.
struct BlockCopy {
  std::int64_t blocks = 0, rows = 0, columns = 0;
  std::int64_t from_first = 0, from_block = 0, from_row = 0;
  std::int64_t to_first = 0, to_block = 0, to_row = 0;
};

/// What anchors should say: rows are anchors, image by image.
struct AnchorTargets {
  View classes;  // int32: the class, kBackground or kIgnored
  View boxes;    // [rows, 4]; of positive anchors only
  View weights;  // [images, 1]: of an image's loss, the reciprocal of its positive anchors
};
inline constexpr std::int32_t kBackground = -1, kIgnored = -2;

struct DetectionLossShape {
  double alpha = 0.25;    // weight of positives in the focal loss; its gamma is 2
  double box_beta = 0.1;  // where the smooth L1 loss becomes linear
  double box_weight = 1.0;
};

class DetectionKernels {
 public:
  virtual ~DetectionKernels() = default;
  virtual void copy_blocks(const BlockCopy& copy, View from, View to, bool add) = 0;
  /// predictions [rows, classes + 4] are logits, then boxes. losses[image] (f64) = weight x the sum
  /// over its anchors of the sigmoid focal losses (arXiv 1708.02002) of all classes and, of
  /// positive anchors, the smooth L1 losses of the box. If `gradient_scale` is not 0, the
  /// predictions are overwritten with gradient_scale x the gradient. Boxes and weights are in the
  /// accumulator's type.
  virtual void detection_loss(const DetectionLossShape& shape, View predictions,
                              const AnchorTargets& targets, double gradient_scale, View losses) = 0;
};

}  // namespace bench::training
