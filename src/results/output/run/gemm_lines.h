// Text for the facts of a GEMM job about the libraries that were tried (topic "gemm_libraries").
// Missing or corrupt facts are omitted.
#pragma once

#include "core/json.h"
#include "results/output/document/document.h"

namespace bench {

/// "f64, 1 thread: openblas 0.3.21 (Haswell) 39 GFLOP/s in a trial; others: blis 0.9.0 (skx) 52
/// GFLOP/s": one line for each kind of product, if several libraries were tried or one could not
/// be, or if the one that was used does not use the CPU's vectors.
Lines gemm_lines(const Json& facts);

}  // namespace bench
