// y = (x - mean) gain / sqrt(variance + epsilon) + bias, row by row (arXiv 1607.06450).
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// x [rows, d], gain and bias [1, d].
Var layer_norm(Var x, Var gain, Var bias, double epsilon = 1e-5);

}  // namespace bench::training
