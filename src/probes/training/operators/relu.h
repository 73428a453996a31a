// ReLU.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// y = max(x, 0), in place if nothing else reads x; the gradient likewise.
Var relu(Var x);

}  // namespace bench::training
