// Operators of routed experts (mixture of experts), in addition to those of transformer.h.
// All operators check the shapes of their inputs and throw Error(internal) with both; the rows of
// an activation are the tokens of the batch, sequence by sequence. They need kernels of experts
// (KernelSet::experts) and throw Error(input) without.
#pragma once

#include "training/engine/graph.h"
#include "training/kernels/expert_kernels.h"

namespace bench::training {

/// The weights of each token's experts: logits [rows, experts] -> gates [rows, experts], as
/// ExpertKernels::route. Training also minimizes `balance` x the balance loss of each sequence
/// (ExpertKernels::statistics), as a mean over tokens like the loss itself, by adding its gradient
/// to that of the logits; the losses that the graph reports are without it.
Var route(Var logits, const Routing& routing, double balance);

/// f64 [rows / sequence, experts + kRoutingColumns], as ExpertKernels::statistics; in
/// evaluation only. Has no gradient.
Var routing_statistics(Var logits, const Routing& routing);

/// Pairs of a token and an expert that it chose.
struct ExpertSlots {
  std::int64_t most = 0;   // for which there is memory
  std::int64_t usual = 0;  // counted as FLOPs
};

/// The sum of each token's experts, which are SwiGLU networks, by gate. x [rows, d], gates
/// [rows, experts] with at most `top` in a row, up [experts, d, 2 n] (gate | up), down [experts, n,
/// d]; y [rows, d]. 6 rows top d n FLOPs forward: those of chosen experts, dropped tokens included.
Var experts(Var x, Var gates, Var up, Var down, std::int64_t top);
/// The same where rows may have none of these experts. Rows of x without one are not read.
Var experts(Var x, Var gates, Var up, Var down, const ExpertSlots& slots);

}  // namespace bench::training
