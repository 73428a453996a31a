// Recommender operations other than GEMMs: ReLU, interactions
// between features, the loss of a click. A gradient is added where its `add` says so, else written.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

/// y = x0 * u + x, elementwise. A gradient may be absent; that of x is y's.
struct CrossBackward {
  View x0, u, y_gradient;
  View x0_gradient, u_gradient;
  bool add_x0 = false, add_u = false;
};

/// Features of one row: first [rows, d] is number 0, rest [rows, features d] are the others.
/// y [rows, d + pairs]: the first one again, then <feature i, feature j> for j < i, by i and then
/// j.
struct DotBackward {
  View first, rest, y_gradient;
  View first_gradient, rest_gradient;  // may be absent
  bool add_first = false, add_rest = false;
};

class RecommenderKernels {
 public:
  virtual ~RecommenderKernels() = default;
  /// y = max(x, 0), and y may be x; the slope at 0 is 0. x_gradient may be y_gradient.
  virtual void relu_forward(View x, View y) = 0;
  virtual void relu_backward(View y, View y_gradient, View x_gradient, bool add) = 0;
  virtual void cross_forward(View x0, View u, View x, View y) = 0;
  virtual void cross_backward(const CrossBackward& what) = 0;
  virtual void dot_forward(View first, View rest, View y) = 0;
  virtual void dot_backward(const DotBackward& what) = 0;
  /// Columns of `from`, beginning with `from_column`, go to `columns` ones of `to`.
  virtual void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                            std::int64_t columns, bool add) = 0;
  /// losses[i] (f64, [rows, 1]) = -log of the probability of labels[i] (0 or 1, in the type of the
  /// logits) where a click has 1 / (1 + e^-logits[i]), in nats. Where `gradient_scale` is not 0 the
  /// logits are overwritten with gradient_scale x (that probability - label).
  virtual void binary_cross_entropy(View logits, View labels, double gradient_scale,
                                    View losses) = 0;
};

}  // namespace bench::training
