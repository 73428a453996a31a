// Rows of a table by id.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

class EmbeddingKernels {
 public:
  virtual ~EmbeddingKernels() = default;
  /// y[i] = table[ids[i]], ids int32 [rows, 1]. Ids out of range are an error of the source: they
  /// are checked, and Error(input) names the row and the id.
  virtual void forward(View ids, View table, View y) = 0;
  /// table_gradient[ids[i]] += y_gradient[i], in the order of i; zeroed before unless `add`.
  virtual void backward(View ids, View y_gradient, View table_gradient, bool add) = 0;
  /// y[i] = x[i] + table[i mod sequence]: learned positions. y may be x.
  virtual void add_positions(View x, View table, std::int64_t sequence, View y) = 0;
  virtual void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                                  bool add) = 0;
};

}  // namespace bench::training
