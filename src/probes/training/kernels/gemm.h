// Matrix products, all row-major.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

struct Product {
  bool transpose_a = false;
  bool transpose_b = false;
  View addend = {};  // as large as the result, which it may be: c = addend + a b
  View bias = {};    // one row, added to every row of the result
};

class GemmKernels {
 public:
  virtual ~GemmKernels() = default;
  /// c[m,n] = op(a)[m,k] op(b)[k,n] + addend + bias.
  virtual void multiply(const Product& product, View a, View b, View c) = 0;
};

}  // namespace bench::training
