// Routed experts of which each rank has some (expert parallelism: GShard, arXiv 2006.16668). Ranks
// have different tokens. A token goes once to each rank that has experts for it, which returns the
// sum of their outputs, as in DeepSeek-V3 (arXiv 2412.19437, section 3.2).
#pragma once

#include "training/engine/graph.h"
#include "training/kernels/expert_kernels.h"

namespace bench::training {

/// experts() by `ranks` ranks, of which rank r has experts r E / ranks to (r + 1) E / ranks - 1. x
/// [rows, d] and gates [rows, E] are of this rank's tokens, up [E / ranks, d, 2 n] and down
/// [E / ranks, n, d] of its experts; y [rows, d]. The gradients of up and down are of all ranks'
/// tokens. Memory is that of the worst case, in which all tokens choose this rank, unless a
/// capacity limits it. Every rank must have as many rows. Needs KernelSet::expert_ranks, in host
/// memory.
Var divided_experts(Var x, Var gates, Var up, Var down, const Routing& routing, int ranks);

}  // namespace bench::training
