// Sums and copies.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

class ElementwiseKernels {
 public:
  virtual ~ElementwiseKernels() = default;
  /// y = a + b, and y may be either.
  virtual void add(View a, View b, View y) = 0;
  /// y = x, or y += x.
  virtual void copy(View x, View y, bool add) = 0;
  /// sums[1, columns] = sum over the rows of x, or added to it.
  virtual void column_sums(View x, View sums, bool add) = 0;
};

}  // namespace bench::training
