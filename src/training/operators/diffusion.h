// Operators of diffusion transformers, in addition to those of linear.h and transformer.h.
// All operators check the shapes of their inputs and throw Error(internal) with both; the rows of
// an activation are the tokens of the batch, sample by sample, equally many each.
#pragma once

#include "training/engine/graph.h"

namespace bench::training {

/// y = x (1 + scale) + shift: what makes a norm adaptive (arXiv 2212.09748). x [rows, d]; vectors
/// [samples, 2 d] are shift | scale of each sample's rows.
Var modulate(Var x, Var vectors);

/// y = residual + gate x; x and residual [rows, d], gates [samples, d] of each sample's rows.
Var gated_add(Var residual, Var x, Var gates);

/// Joins the sequences of two streams: a [samples m, d] and b [samples n, d] -> [samples (m + n),
/// d], each sample's rows of a, then those of b.
Var join_sequences(Var a, Var b, std::int64_t samples);

/// Rows `first` to `first + count - 1` of each sample of x: [samples count, d].
Var part_of_sequences(Var x, std::int64_t samples, std::int64_t first, std::int64_t count);

/// The loss of a regression: the mean of (predictions - targets)^2 over each row; both [rows, d],
/// targets in the compute type; the losses f64 [rows, 1]. Training minimizes
/// StepScalars::gradient_scale x their sum, and overwrites the predictions with their gradient, so
/// nothing else may use them; in evaluation they stay.
Var squared_error(Var predictions, Var targets);

}  // namespace bench::training
