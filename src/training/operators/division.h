// Operators where a model is divided over ranks: between the ranks that divide its matrices (f and
// g of Megatron-LM, arXiv 1909.08053), and at the end of a pipeline's stage.
#pragma once

#include "training/engine/graph.h"

namespace bench::training {

/// y = x. The gradient of x is the sum over the ranks, each of which uses y for its part.
Var shared_by_ranks(Var x);
/// y = the sum of x over the ranks. The gradient passes unchanged.
Var sum_over_ranks(Var x);

struct StageEnd {
  Var sent = {};    // x, for the next stage; its gradient is written over it before backward()
  Var losses = {};  // f64 [rows, 1], without values
};
/// Ends the graph of a stage that is not the last one.
StageEnd end_stage(Var x);

}  // namespace bench::training
