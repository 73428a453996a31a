// Column concatenation.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// [rows, a] and [rows, b] -> [rows, a + b].
Var concat_columns(Var a, Var b);

}  // namespace bench::training
