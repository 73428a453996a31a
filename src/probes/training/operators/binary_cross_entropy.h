// The loss of a click model: logistic function, logarithm and gradient in one pass.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// logits [rows, 1], labels [rows, 1] of 0 and 1 in the type of the computation; the losses f64
/// [rows, 1], in nats. Training makes StepScalars::gradient_scale x their sum small. The logits
/// become their own gradient then, so nothing else may use them; in evaluation they stay.
Var binary_cross_entropy(Var logits, Var labels);

}  // namespace bench::training
