// Kernels of diffusion transformers: a vector per sample shifts, scales and gates the rows of that
// sample (adaptive norms), and the loss compares numbers.
#pragma once

#include "training/kernels/view.h"

namespace bench::training {

/// Gradients are added if their `add` is set, else written.
struct ModulateBackward {
  View x, vectors;  // arguments of forward
  View y_gradient;
  View x_gradient, vectors_gradient;  // may be absent; x_gradient may be y_gradient
  bool add_x = false, add_vectors = false;
};

struct GateBackward {
  View x, gates;  // arguments of forward
  View y_gradient;
  View x_gradient, gates_gradient;  // may be absent
  bool add_x = false, add_gates = false;
};

/// The rows of x are those of the samples, equally many each, one sample after another.
class DiffusionKernels {
 public:
  virtual ~DiffusionKernels() = default;
  /// y = x (1 + scale) + shift; vectors [samples, 2 d] are shift | scale.
  virtual void modulate(View x, View vectors, View y) = 0;
  virtual void modulate_backward(const ModulateBackward& what) = 0;
  /// y = residual + gate x, and y may be residual; gates [samples, d].
  virtual void gate(View x, View gates, View residual, View y) = 0;
  virtual void gate_backward(const GateBackward& what) = 0;
  virtual void zero(View x) = 0;
  /// losses[i] (f64, [rows, 1]) = the mean of (predictions - targets)^2 over row i. If
  /// `gradient_scale` is not 0, the predictions are overwritten with gradient_scale x its gradient.
  virtual void squared_error(View predictions, View targets, double gradient_scale,
                             View losses) = 0;
};

}  // namespace bench::training
