// The sum of two tensors, elementwise.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// a and b of one shape. If b is the result of the last linear, the sum is fused into its GEMM.
Var add(Var a, Var b);

}  // namespace bench::training
