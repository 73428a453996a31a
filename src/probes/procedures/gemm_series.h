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
};

/// Takes library, isa, values, ... from the job's parameters.
void measure_product(State& state, Gemm& gemm, const GemmCase& which);

}  // namespace bench
