// Updates of a range of parameters, elementwise; state has accumulator_of the type of the
// parameters.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

/// The values of an update that change in each step. Stored in the tensors' memory, so that a
/// recorded update can be replayed.
struct StepNumbers {
  double rate = 0.0;                            // of learning
  double gradient_scale = 1.0;                  // of clipping
  double correction1 = 1.0, correction2 = 1.0;  // AdamW's: 1 / (1 - beta^t)
};

struct AdamwRange {
  View parameters, gradients, first, second;
  const StepNumbers* step = nullptr;  // in the tensors' memory
  /// Of parameters in bf16 or f16: their f32 values, from which they are rounded; absent for
  /// others.
  View master = {};
  bool start = false;  // master is not set yet: it is what the parameters are
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double decay = 0.0;  // decoupled: parameter -= rate x decay x parameter
};

struct SgdRange {
  View parameters, gradients, momentum;
  const StepNumbers* step = nullptr;
  View master = {};  // as AdamW's
  bool start = false;
  double factor = 0.0, decay = 0.0;  // m = factor m + g + decay p; p -= rate m
};

/// Rows named by `ids` (int32, each once) of a table: state[id] += mean(g^2),
/// table[id] -= rate g / (sqrt(state[id]) + epsilon).
struct AdagradRows {
  View table, ids, gradients, state;
  double rate = 0.0, epsilon = 1e-8;
};

class OptimizerKernels {
 public:
  virtual ~OptimizerKernels() = default;
  virtual void adamw(const AdamwRange& range) = 0;
  virtual void sgd(const SgdRange& range) = 0;
  virtual void adagrad_rows(const AdagradRows& rows) = 0;
  /// Sum of squares, in f64.
  virtual double square_sum(View x) = 0;
};

}  // namespace bench::training
