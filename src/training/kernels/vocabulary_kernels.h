// Kernels of a vocabulary that is divided over ranks: each has some rows of the embedding's table
// and the same columns of the logits.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// The tokens of one rank: `first` and those that follow, as many as its table has rows or its
/// logits have columns, of `all`.
struct VocabularyPart {
  std::int64_t first = 0, all = 0;
};

/// What ranks exchange of each row of their logits: columns in accumulator_of(the type of the
/// logits).
enum class LogitStatistic : std::int8_t {
  largest,       // of the rank's logits
  exponentials,  // sum of e^(logit - largest)
  target         // its logit; 0 if another rank has it
};
inline constexpr std::int64_t kLogitStatistics = 3;

struct DividedLoss {
  View logits;   // overwritten with the gradient times gradient_scale unless that is 0
  View targets;  // int32 [rows, 1]
  VocabularyPart part;
  View statistics;  // [ranks x rows, kLogitStatistics], one rank's rows after another's
  double gradient_scale = 0.0;
  View losses;  // f64 [rows, 1]
};

class VocabularyKernels {
 public:
  virtual ~VocabularyKernels() = default;
  /// EmbeddingKernels::forward() and backward() with the rank's rows of the table: y is zero where
  /// the token is another rank's. Throws like them for tokens that no rank has.
  virtual void look_up(View tokens, const VocabularyPart& part, View table, View y) = 0;
  virtual void look_up_backward(View tokens, const VocabularyPart& part, View y_gradient,
                                View table_gradient, bool add) = 0;
  /// Writes statistics [rows, kLogitStatistics]. Throws Error(input) for a target that no rank has.
  virtual void summarize_logits(View logits, View targets, const VocabularyPart& part,
                                View statistics) = 0;
  /// LossKernels::cross_entropy() of all columns, from the statistics of all ranks: losses have the
  /// same bits on each.
  virtual void cross_entropy(const DividedLoss& what) = 0;
};

}  // namespace bench::training
