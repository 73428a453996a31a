// Loss kernels.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

class LossKernels {
 public:
  virtual ~LossKernels() = default;
  /// losses[i] (always f64, [rows, 1]) = log sum exp(logits[i]) - logits[i, targets[i]], in nats;
  /// targets int32. A negative target is ignored: loss and gradient are 0. Where `gradient_scale` is
  /// not 0 the logits are overwritten with gradient_scale x (softmax - onehot): one pass, and no
  /// second buffer as large as the vocabulary.
  virtual void cross_entropy(View logits, View targets, double gradient_scale, View losses) = 0;
  /// sum[1, 1] = sum of losses, or added to it; both f64, summed in one fixed order.
  virtual void add_up(View losses, View sum, bool add) = 0;
};

}  // namespace bench::training
