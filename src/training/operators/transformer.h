// Operators of language models, in addition to those of linear.h.
// All operators check the shapes of their inputs and throw Error(internal) with both; the rows of
// an activation are the tokens of the batch, sequence by sequence.
#pragma once

#include "training/engine/context_part.h"
#include "training/engine/graph.h"

namespace bench::training {

/// Rows of a table by token. ids int32 [rows, 1], table [vocabulary, d]; y [rows, d].
Var embedding(Var ids, Var table);
/// Learned positions: y[i] = x[i] + table[i mod sequence]; x [rows, d], table [sequence, d].
Var add_positions(Var x, Var table);

// Rotary positions (arXiv 2104.09864), halves of a head paired as in Llama.

/// [part.tokens(sequence), head_dim]: cosines of position x theta^(-2i/head_dim), then sines. One
/// per graph.
Var rope_angles(Graph& graph, const AttentionShape& shape, double theta,
                const ContextPart& part = {});
/// Rotates q and k of packed rows [rows, (heads + 2 kv_heads) head_dim]; v is unchanged.
Var rope(Var packed, Var angles, const AttentionShape& shape);

/// Throws Error(internal), naming `op`, for heads that the kernels of attention cannot have.
void check_heads(const AttentionShape& shape, const std::string& op);
/// Softmax attention over packed rows [q | k | v]: packed [rows, (heads + 2 kv_heads) head_dim];
/// y [rows, heads head_dim]. Forward FLOPs: 4 T d per row, half of that if causal (d = heads x
/// head_dim), by the convention of MFU: additional work of a kernel, on the diagonal or repeated,
/// is not counted.
Var attention(Var packed, const AttentionShape& shape);

inline constexpr double kNormEpsilon = 1e-5;

/// y = x gain / sqrt(mean(x^2) + epsilon), row by row (arXiv 1910.07467); x [rows, d], gain [1, d].
Var rms_norm(Var x, Var gain, double epsilon = kNormEpsilon);
/// y = (x - mean) gain / sqrt(variance + epsilon) + bias, row by row (arXiv 1607.06450); x [rows,
/// d], gain and bias [1, d].
Var layer_norm(Var x, Var gain, Var bias, double epsilon = kNormEpsilon);

/// silu(gate) x up (arXiv 2002.05202); x [rows, 2n] is [gate | up]; y [rows, n].
Var swiglu(Var x);
/// GELU by tanh, as in GPT-2 (arXiv 1606.08415).
Var gelu(Var x);

/// The loss of a classifier: softmax, logarithm and gradient in one pass over the logits. logits
/// [rows, classes], targets int32 [rows, 1]; the losses f64 [rows, 1], in nats; negative targets
/// are ignored. Training minimizes StepScalars::gradient_scale x their sum. The logits are
/// overwritten with their gradient, so nothing else may use them.
Var cross_entropy(Var logits, Var targets);

/// The loss of a policy gradient, clipped at 1 - clip and 1 + clip (PolicyLoss); logits, targets
/// and losses as for cross_entropy, terms f32 [rows, kPolicyTerms].
Var policy_loss(Var logits, Var targets, Var terms, double clip);

}  // namespace bench::training
