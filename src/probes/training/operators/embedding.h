// Rows of a table: by token, and by position.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// ids int32 [rows, 1], table [vocabulary, d]; y [rows, d].
Var embedding(Var ids, Var table);
/// y[i] = x[i] + table[i mod sequence]; x [rows, d], table [sequence, d].
Var add_positions(Var x, Var table);

}  // namespace bench::training
