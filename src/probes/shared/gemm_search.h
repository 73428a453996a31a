// Measures one product, and searches for the fastest shape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "devices/gemm.h"
#include "probes/shared/gemm_matrices.h"
#include "probes/state.h"

namespace bench {

/// The topic of the facts that keep a hash.
inline constexpr const char* kResultHashTopic = "result_hash";

struct GemmCase {
  Dtype dtype = Dtype::f32;
  GemmShape shape;
  int threads = 1;
  bool searched = false;  // the shape was found by a search
};

/// One series of the gemm probe: a product that is prepared, tuned on other data, timed, verified
/// and reported with the job's parameters.
void measure_product(State& state, Gemm& gemm, const GemmCase& which);

/// Random matrices of one dtype and any shape, for products that are only timed: a few million
/// random elements, repeated as often as needed.
class TrialMatrices {
 public:
  TrialMatrices(Dtype dtype, std::uint64_t seed);
  /// Gives the plan its A and B of this shape.
  void load(GemmPlan& plan, const GemmShape& shape);

 private:
  const Matrices pattern_;
  // As long as the largest shape so far needed.
  std::vector<std::byte> a_, b_, a_scales_, b_scales_;
};

/// The case with the fastest shape found within `budget`; nothing if the library has no such
/// product, with the reason in a skipped series. The trials become a chunk "shape_search". Every
/// rank must call it with the same arguments; all get the same result.
std::optional<GemmCase> search_shape(State& state, Gemm& gemm, Dtype dtype, int threads,
                                     Seconds budget);

}  // namespace bench
