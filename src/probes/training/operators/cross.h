// What makes a linear layer a cross layer of DCNv2 (arXiv 2008.13535, eq. 1 and 4).
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// y = x0 * u + x, elementwise, all of one shape. With u = linear(linear(x, v), w, {bias}), of
/// which the middle has few columns, this is the low-rank cross layer: y = x0 * (W (V x) + b) + x.
Var cross(Var x0, Var u, Var x);

}  // namespace bench::training
