// The rectifier.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// y = max(x, 0), where x lies if nothing else reads it; the gradient too.
Var relu(Var x);

}  // namespace bench::training
