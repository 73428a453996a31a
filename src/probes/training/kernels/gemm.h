// GEMMs, all row-major.
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

/// The GELU step (as in ActivationKernels) fused into a GEMM.
enum class GeluStep { none, forward, backward };

struct GemmOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  View addend = {};  // as large as the result, which it may be: c = addend + a b
  View bias = {};    // one row, added to every row of the result
  /// forward: c = gelu(sum), and the sum is kept here. backward: c = a b x gelu'(what is here).
  GeluStep gelu = GeluStep::none;
  View gelu_input = {};
};

class GemmKernels {
 public:
  virtual ~GemmKernels() = default;
  /// c[m,n] = op(a)[m,k] op(b)[k,n] + addend + bias.
  virtual void multiply(const GemmOptions& product, View a, View b, View c) = 0;
  /// Whether multiply() can do this one's GELU; see multiply_gelu() for those that cannot.
  virtual bool fuses(const GemmOptions& product, View a, View b, View c) {
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(c);
    return product.gelu == GeluStep::none;
  }
};

}  // namespace bench::training
