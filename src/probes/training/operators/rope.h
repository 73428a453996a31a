// Rotary positions (arXiv 2104.09864), halves of a head paired as in Llama.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// [sequence, head_dim]: cosines of position x theta^(-2i/head_dim), then sines. One a graph.
Var rope_angles(Graph& graph, const AttentionShape& shape, double theta);
/// Rotates q and k of packed rows [rows, (heads + 2 kv_heads) head_dim]; v passes.
Var rope(Var packed, Var angles, const AttentionShape& shape);

}  // namespace bench::training
