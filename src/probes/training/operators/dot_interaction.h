// DLRM's interaction of features (arXiv 1906.00091): the inner products of all pairs.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// first [rows, d], rest [rows, n d] hold n + 1 features; y [rows, d + n (n + 1) / 2]: first again,
/// then <feature i, feature j> for j < i, ordered by i, then j. Forward FLOPs: 2 d a pair.
Var dot_interaction(Var first, Var rest);

}  // namespace bench::training
