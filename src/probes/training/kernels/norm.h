// Normalisation of rows. Backward passes add to input_gradient where `add` says so, else write it;
// the same for the gradients of gain and bias.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

struct NormBackward {
  View x, gain;     // what forward got
  View statistics;  // what forward kept
  View output_gradient;
  View input_gradient;
  View gain_gradient, bias_gradient;  // one row each; may be absent
  bool add_input = false;
  bool add_gain = false;
  bool add_bias = false;
};

class NormKernels {
 public:
  virtual ~NormKernels() = default;
  /// y = x r gain, r = 1/sqrt(mean(x^2) + epsilon) [rows, 1], kept as `statistics`.
  virtual void rms_forward(View x, View gain, double epsilon, View y, View statistics) = 0;
  virtual void rms_backward(const NormBackward& what) = 0;
  /// y = (x - mean) r gain + bias; statistics [rows, 2] are mean and r = 1/sqrt(var + epsilon).
  virtual void layer_forward(View x, View gain, View bias, double epsilon, View y,
                             View statistics) = 0;
  virtual void layer_backward(const NormBackward& what) = 0;
};

}  // namespace bench::training
