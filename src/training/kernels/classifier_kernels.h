// Kernels of image classifiers, in addition to those of convolutional networks: pooling, the sum
// with a ReLU that ends a residual block, and a loss with smoothed labels. Maps are in NHWC, as in
// convolution_kernels.h.
#pragma once

#include "training/kernels/convolution_kernels.h"
#include "training/kernels/view.h"

namespace bench::training {

/// The gradient is added if `add` is set, else written.
struct PoolBackward {
  View x, y, y_gradient;
  View x_gradient;
  bool add = false;
};

class ClassifierKernels {
 public:
  virtual ~ClassifierKernels() = default;
  /// Each pixel of y is the largest of its window in x, channel by channel; what lies outside the
  /// image does not count. The window has all channels.
  virtual void max_pool(const PatchShape& window, View x, View y) = 0;
  /// A window's gradient goes to the first of its largest pixels, row by row.
  virtual void max_pool_backward(const PatchShape& window, const PoolBackward& what) = 0;
  /// Each row of y is the mean of as many rows of x, one after another.
  virtual void mean_rows(View x, View y) = 0;
  virtual void mean_rows_backward(View y_gradient, View x_gradient, bool add) = 0;
  /// y = max(a + b, 0); y may be either.
  virtual void add_relu(View a, View b, View y) = 0;
  /// Of either input; x_gradient may be y_gradient.
  virtual void add_relu_backward(View y, View y_gradient, View x_gradient, bool add) = 0;
  /// LossKernels::cross_entropy() with a target of 1 - smoothing for the label and smoothing /
  /// classes for every class, the label's included.
  virtual void smoothed_cross_entropy(View logits, View targets, double smoothing,
                                      double gradient_scale, View losses) = 0;
};

}  // namespace bench::training
