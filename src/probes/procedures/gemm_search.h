// Times shapes of one dtype briefly, as ShapeSearch asks for them, and keeps what was tried.
#pragma once

#include <optional>

#include "probes/procedures/gemm_series.h"

namespace bench {

/// The case with the fastest shape that `budget` was enough to find; nothing where the library has
/// no such product, with the reason told as a skipped series. What was tried becomes a chunk
/// "shape_search". Every rank calls it alike and gets the same.
std::optional<GemmCase> search_shape(State& state, Gemm& gemm, Dtype dtype, int threads,
                                     Seconds budget);

}  // namespace bench
