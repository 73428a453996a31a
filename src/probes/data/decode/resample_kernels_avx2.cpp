// The loops compiled for AVX2.

#include "core/compiled_for.h"
#include "probes/data/decode/resample_kernels.h"

#if defined(__x86_64__)

BENCH_COMPILED_FOR("avx2")
#include "probes/data/decode/resample_loops.h"
BENCH_COMPILED_FOR_END

namespace bench::data {

const ResampleKernels* resample_kernels_avx2() {
  return __builtin_cpu_supports("avx2") ? &kLoops : nullptr;
}

}  // namespace bench::data

#else

namespace bench::data {

const ResampleKernels* resample_kernels_avx2() { return nullptr; }

}  // namespace bench::data

#endif
