// Every operator that a model can use. Each checks its shapes and throws Error(internal) with both;
// the rows of an activation are the tokens of the batch, sequence by sequence.
#pragma once

#include "training/engine/graph.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

// Rotary positions (arXiv 2104.09864), halves of a head paired as in Llama.

/// [sequence, head_dim]: cosines of position x theta^(-2i/head_dim), then sines. One a graph.
Var rope_angles(Graph& graph, const AttentionShape& shape, double theta);
/// Rotates q and k of packed rows [rows, (heads + 2 kv_heads) head_dim]; v passes.
Var rope(Var packed, Var angles, const AttentionShape& shape);

// Softmax attention over packed rows [q | k | v].

/// packed [rows, (heads + 2 kv_heads) head_dim]; y [rows, heads head_dim]. Forward FLOPs: 4 T d a
/// row, half of it where causal (d = heads x head_dim), by the convention of MFU: what a kernel
/// does beyond that, on the diagonal or twice, is not counted.
Var attention(Var packed, const AttentionShape& shape);

// GPT-2's feed-forward part: gelu(x up + up_bias) down + down_bias (+ residual). One operator, so
// that a device can fuse GELU and its derivative into the epilogues of the adjacent GEMMs.

struct GeluMlpWeights {
  Var up, up_bias;      // [in, hidden], [1, hidden]
  Var down, down_bias;  // [hidden, out], [1, out]
};

/// x [rows, in], residual [rows, out]; y [rows, out]. 2 rows hidden (in + out) FLOPs forward.
Var gelu_mlp(Var x, const GeluMlpWeights& weights, Var residual);

// GEMM with GELU: fused if the device supports it, else two kernels.

/// multiply() with a GELU step, fused or not.
void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c);

// silu(gate) x up (arXiv 2002.05202).

/// x [rows, 2n] is [gate | up]; y [rows, n].
Var swiglu(Var x);

// y = x gain / sqrt(mean(x^2) + epsilon), row by row (arXiv 1910.07467).

/// x [rows, d], gain [1, d].
Var rms_norm(Var x, Var gain, double epsilon = 1e-5);

// ReLU.

/// y = max(x, 0), in place if nothing else reads x; the gradient likewise.
Var relu(Var x);

// y = x w (+ bias) (+ residual), or x w^T for a table that is also the embedding's.

struct LinearOptions {
  Var bias = {};            // [1, out]
  Var residual = {};        // [rows, out], added to the result without a pass of its own
  bool transposed = false;  // w is [out, in]: a tied head
};

/// x [rows, in], w [in, out]; y [rows, out]. 2 rows in out FLOPs forward.
Var linear(Var x, Var w, const LinearOptions& options = {});

/// Makes `a` the residual of the linear that made `b`, where b is the graph's last tensor and has
/// none yet: the sum costs nothing then. Returns whether it did.
bool add_into_linear(Var a, Var b);

// y = (x - mean) gain / sqrt(variance + epsilon) + bias, row by row (arXiv 1607.06450).

/// x [rows, d], gain and bias [1, d].
Var layer_norm(Var x, Var gain, Var bias, double epsilon = 1e-5);

// GELU by tanh, as GPT-2 has it (arXiv 1606.08415).

Var gelu(Var x);

// Rows of a table: by token, and by position.

/// ids int32 [rows, 1], table [vocabulary, d]; y [rows, d].
Var embedding(Var ids, Var table);
/// y[i] = x[i] + table[i mod sequence]; x [rows, d], table [sequence, d].
Var add_positions(Var x, Var table);

// DLRM's interaction of features (arXiv 1906.00091): the inner products of all pairs.

/// first [rows, d], rest [rows, n d] hold n + 1 features; y [rows, d + n (n + 1) / 2]: first again,
/// then <feature i, feature j> for j < i, ordered by i, then j. Forward FLOPs: 2 d a pair.
Var dot_interaction(Var first, Var rest);

// The loss of a classifier: softmax, logarithm and gradient in one pass over the logits.

/// logits [rows, classes], targets int32 [rows, 1]; the losses f64 [rows, 1], in nats; a negative
/// target counts for nothing. Training makes StepScalars::gradient_scale x their sum small. The
/// logits become their own gradient, so nothing else may use them.
Var cross_entropy(Var logits, Var targets);

// What makes a linear layer a cross layer of DCNv2 (arXiv 2008.13535, eq. 1 and 4).

/// y = x0 * u + x, elementwise, all of one shape. With u = linear(linear(x, v), w, {bias}), of
/// which the middle has few columns, this is the low-rank cross layer: y = x0 * (W (V x) + b) + x.
Var cross(Var x0, Var u, Var x);

// Column concatenation.

/// [rows, a] and [rows, b] -> [rows, a + b].
Var concat_columns(Var a, Var b);

// The loss of a click model: logistic function, logarithm and gradient in one pass.

/// logits [rows, 1], labels [rows, 1] of 0 and 1 in the type of the computation; the losses f64
/// [rows, 1], in nats. Training makes StepScalars::gradient_scale x their sum small. The logits
/// become their own gradient then, so nothing else may use them; in evaluation they stay.
Var binary_cross_entropy(Var logits, Var labels);

// The sum of two tensors, elementwise.

/// a and b of one shape. If b is the result of the last linear, the sum is fused into its GEMM.
Var add(Var a, Var b);

}  // namespace bench::training
