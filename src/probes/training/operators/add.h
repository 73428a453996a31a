// The sum of two tensors, elementwise.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// a and b of one shape. Where b is what a linear just made, the sum becomes part of that product.
Var add(Var a, Var b);

}  // namespace bench::training
