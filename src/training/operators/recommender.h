// Operators of click models, in addition to those of linear.h.
// All operators check the shapes of their inputs and throw Error(internal) with both; the rows of
// an activation are the tokens of the batch, sequence by sequence.
#pragma once

#include "training/engine/graph.h"

namespace bench::training {

/// y = max(x, 0), in place if nothing else reads x; the gradient likewise.
Var relu(Var x);

/// DLRM's interaction of features (arXiv 1906.00091): the inner products of all pairs. first
/// [rows, d], rest [rows, n d] hold n + 1 features; y [rows, d + n (n + 1) / 2]: first again, then
/// <feature i, feature j> for j < i, ordered by i, then j. Forward FLOPs: 2 d per pair.
Var dot_interaction(Var first, Var rest);

/// y = x0 * u + x, elementwise, all of one shape. With u = linear(linear(x, v), w, {bias}), where
/// the result of the inner one has few columns, this is the low-rank cross layer of DCNv2 (arXiv
/// 2008.13535, eq. 1 and 4): y = x0 * (W (V x) + b) + x.
Var cross(Var x0, Var u, Var x);

/// [rows, a] and [rows, b] -> [rows, a + b].
Var concat_columns(Var a, Var b);

/// Columns `first` to `first + count - 1` of x.
Var columns_of(Var x, std::int64_t first, std::int64_t count);

/// The inner products of all pairs of rows: u [rows, d], v [rows, d], bias [rows, 1] -> [rows,
/// rows], y[i, j] = <u_i, v_j> + bias_j. The bias has no gradient. 2 rows^2 d FLOPs forward.
Var row_products(Var u, Var v, Var bias);

/// The loss of a click model: logistic function, logarithm and gradient in one pass. logits
/// [rows, 1], labels [rows, 1] of 0 and 1 in the compute type; the losses f64 [rows, 1], in nats.
/// Training minimizes StepScalars::gradient_scale x their sum, and overwrites the logits with their
/// gradient, so nothing else may use them; in evaluation they stay.
Var binary_cross_entropy(Var logits, Var labels);

}  // namespace bench::training
