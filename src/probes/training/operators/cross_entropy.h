// The loss of a classifier: softmax, logarithm and gradient in one pass over the logits.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// logits [rows, classes], targets int32 [rows, 1]; the losses f64 [rows, 1], in nats; a negative
/// target counts for nothing. Training makes StepScalars::gradient_scale x their sum small. The
/// logits become their own gradient, so nothing else may use them.
Var cross_entropy(Var logits, Var targets);

}  // namespace bench::training
