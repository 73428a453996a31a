// Operators of hierarchical sequential transduction units (HSTU), in addition to those of linear.h
// and transformer.h.
// All operators check the shapes of their inputs and throw Error(internal) with both; the rows of
// an activation are those of the batch, sequence by sequence.
#pragma once

#include "training/engine/graph.h"
#include "training/kernels/hstu_kernels.h"

namespace bench::training {

/// y = x sigmoid(x).
Var silu(Var x);

struct HstuVars {
  Var packed;         // [rows, 4 heads head_dim]: u, v, q, k
  Var lengths;        // int32 [rows / sequence, 1]
  Var times;          // int32 [rows, 1]
  Var position_bias;  // [heads, sequence]
  Var time_bias;      // [heads, buckets]
};

/// Pointwise attention (HstuKernels::attention) over events in their order; u is not read. y [rows,
/// heads head_dim]. Forward FLOPs: 2 T d per row (d = heads x head_dim, T = sequence), those of a
/// causal attention over full sequences: shorter ones are not counted differently.
Var hstu_attention(const HstuVars& in, const HstuAttentionShape& shape);

/// y = x u, u the first columns of `packed`. x [rows, d], packed [rows, 4 d].
Var hstu_gate(Var x, Var packed);

/// The loss of actions: logistic function, logarithm and gradient in one pass. logits [rows, 1],
/// labels int32 [rows, 1]: 0, 1, or negative for rows that are ignored; the losses f64 [rows, 1],
/// in nats. Training minimizes StepScalars::gradient_scale x their sum and overwrites the logits
/// with their gradient, so nothing else may use them; in evaluation they stay.
Var event_losses(Var logits, Var labels);

}  // namespace bench::training
