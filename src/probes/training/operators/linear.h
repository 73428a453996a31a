// y = x w (+ bias) (+ residual), or x w^T for a table that is also the embedding's.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

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

}  // namespace bench::training
