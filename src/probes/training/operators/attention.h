// Softmax attention over packed rows [q | k | v].
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// packed [rows, (heads + 2 kv_heads) head_dim]; y [rows, heads head_dim]. Forward FLOPs: 4 T d a
/// row, half of it where causal (d = heads x head_dim), by the convention of MFU: what a kernel
/// does beyond that, on the diagonal or twice, is not counted.
Var attention(Var packed, const AttentionShape& shape);

}  // namespace bench::training
