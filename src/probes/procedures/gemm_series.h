// One series of the gemm probe: a product that is prepared, tuned on other data, timed and
// verified.
#pragma once

#include "probes/device/gemm.h"
#include "probes/state.h"

namespace bench {

struct GemmCase {
  Dtype dtype = Dtype::f32;
  GemmShape shape;
  int threads = 1;
  bool searched = false;  // the shape was found, not asked for
};

/// With the library, isa, candidates, ... of the job's parameters.
GemmRequest gemm_request(const State& state, const GemmCase& which);

/// Timed, verified and reported with the job's parameters.
void measure_product(State& state, Gemm& gemm, const GemmCase& which);

}  // namespace bench
