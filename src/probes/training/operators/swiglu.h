// silu(gate) x up (arXiv 2002.05202).
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// x [rows, 2n] is [gate | up]; y [rows, n].
Var swiglu(Var x);

}  // namespace bench::training
