// Elementwise activations.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

class ActivationKernels {
 public:
  virtual ~ActivationKernels() = default;
  /// y[rows, n] = silu(x[:, :n]) x[:, n:], x [rows, 2n].
  virtual void swiglu_forward(View x, View y) = 0;
  virtual void swiglu_backward(View x, View y_gradient, View x_gradient, bool add) = 0;
  /// The tanh form of GPT-2. x_gradient may be y_gradient.
  virtual void gelu_forward(View x, View y) = 0;
  virtual void gelu_backward(View x, View y_gradient, View x_gradient, bool add) = 0;
};

}  // namespace bench::training
