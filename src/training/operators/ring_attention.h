// Attention of sequences whose tokens are divided over ranks (context parallelism).
#pragma once

#include "training/engine/context_part.h"
#include "training/engine/graph.h"

namespace bench::training {

/// attention() where each of part.ranks ranks (KernelSet::context) has part.tokens(sequence) rows
/// of each sequence, in the order of its chunks (ContextPart), and the whole result of its rows.
/// Keys and values pass around the ring of ranks, so that none has those of a whole sequence (ring
/// attention, arXiv 2310.01889); in the backward pass their gradients travel with them. packed
/// [samples x part.tokens(sequence), (heads + 2 kv_heads) head_dim]; `shape.sequence` is the length
/// of whole sequences, a multiple of part.chunks(). FLOPs are those of this rank's share.
Var ring_attention(Var packed, const AttentionShape& shape, const ContextPart& part);

}  // namespace bench::training
