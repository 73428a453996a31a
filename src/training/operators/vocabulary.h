// The ends of a language model whose vocabulary is divided over its tensor ranks (Megatron-LM,
// arXiv 1909.08053): each has some rows of the embedding's table and the same columns of the
// logits.
#pragma once

#include "training/engine/graph.h"

namespace bench::training {

/// This rank's summand of embedding(): rows of the table that it has, zeros for other tokens.
Var embedding_part(Var tokens, Var table, const VocabularyPart& part);

/// cross_entropy() of all ranks' logits, of which this rank has some columns. The ranks exchange
/// kLogitStatistics numbers for each row, and have the same losses.
Var divided_cross_entropy(Var logits, Var targets, const VocabularyPart& part, int ranks);

}  // namespace bench::training
