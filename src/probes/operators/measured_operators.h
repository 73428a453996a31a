// Operators that no model here uses, next to which those of the models are measured: attention that
// keeps its scores, an optimizer without fusion; and those that models use outside of graphs.
#pragma once

#include <vector>

#include "training/engine/graph.h"

namespace bench {

/// Softmax attention as three kernels: scores of all pairs, their softmax, and a GEMM, head by
/// head. Keeps the softmax, heads x sequence numbers for each row, as a backward pass reads it.
/// packed [rows, 3 heads head_dim]; y [rows, heads head_dim]; causal, forward only, on hosts, f32
/// or f64. FLOPs are counted as of attention().
training::Var attention_with_scores(training::Var packed, const training::AttentionShape& shape);

struct AdamwVars {
  training::Var parameters, gradients;  // [1, n], in the compute type
  training::Var first, second;          // [1, n], in its accumulator's; both are changed
  training::Var numbers = {};           // f64 [1, 4]: adamw_numbers(); of adamw_update() only
};

/// Rate, scale of the gradient, and both corrections, of a step between many.
std::vector<double> adamw_numbers();

/// AdamW on a row of parameters by the optimizer's kernel: all arithmetic in one pass over memory.
/// f32 or f64, because narrower types have master weights.
training::Var adamw_update(const AdamwVars& vars);

/// The same as one pass over memory for each vector operation (8 passes and an array for
/// intermediate values), as a framework runs it without fusion. On hosts.
training::Var adamw_in_passes(const AdamwVars& vars);

/// FLOPs of adamw_update() a parameter: decay 2, moments 3 and 4, corrections 2, root, epsilon,
/// quotient, step 2.
inline constexpr double kAdamwFlops = 16.0;

/// Sums of table rows: ids int32 [bags, lookups], table [rows, d]; y [bags, d]. Forward only, on
/// hosts, f32 or f64.
training::Var embedding_bag(training::Var ids, training::Var table);

}  // namespace bench
