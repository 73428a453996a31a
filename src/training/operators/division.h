// Operators where a model is divided over ranks: between the ranks that divide its matrices (f and
// g of Megatron-LM, arXiv 1909.08053), and at the end of a pipeline's stage.
#pragma once

#include "training/engine/graph.h"

namespace bench::training {

/// y = x. The gradient of x is the sum over the ranks, each of which uses y for its part.
Var shared_by_ranks(Var x, int ranks);
/// y = the sum of x over the ranks. The gradient passes unchanged.
Var sum_over_ranks(Var x, int ranks);

// Sequence parallelism (arXiv 2205.05198): between divided matrices, each of `ranks` has an equal
// part of the rows, in the order of ranks.

/// The rows of all ranks, each of which uses them for its part: their gradients are summed.
Var gather_rows(Var x, int ranks);
/// This rank's rows of the sum of x over the ranks.
Var sum_own_rows(Var x, int ranks);

/// The whole of a parameter of which each copy of the model has a shard (ParameterShard); the
/// gradient of the shard is the sum over the copies. Unless `keep`, it is gathered again for the
/// backward pass.
Var gather_shards(Var shard, const Shape& whole, bool keep);

struct StageEnd {
  Var sent = {};    // x, for the next stage; its gradient is written over it before backward()
  Var losses = {};  // f64 [rows, 1], without values
};
/// Ends the graph of a stage that is not the last one; `rows`: of the losses.
StageEnd end_stage(Var x, std::int64_t rows);

/// Ends a chunk of a stage and begins the next one: x goes to the next stage, and the result, of
/// the same shape, comes from the previous one; their gradients go back. The operator does nothing:
/// who runs the plan writes the result and the gradient of x in its place.
Var next_chunk(Var x);

}  // namespace bench::training
