// Random matrices of one dtype for products that are only timed, in any shape, without making each
// anew: a few million random elements, repeated as often as needed.
#pragma once

#include "probes/procedures/gemm_matrices.h"

namespace bench {

class TrialMatrices {
 public:
  TrialMatrices(Dtype dtype, std::uint64_t seed);
  /// Gives the plan its A and B of this shape.
  void load(GemmPlan& plan, const GemmShape& shape);

 private:
  const Matrices pattern_;
  std::vector<std::byte> a_, b_, a_scales_,
      b_scales_;  // as long as the largest shape so far needed
};

}  // namespace bench
