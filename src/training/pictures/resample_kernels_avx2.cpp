// The loops compiled for AVX2.

#include "core/compiled_for.h"
#include "training/pictures/resample_kernels.h"

#if defined(__x86_64__)

BENCH_COMPILED_FOR("avx2")
#include "training/pictures/resample_loops.h"
BENCH_COMPILED_FOR_END

namespace bench::training {

const ResampleKernels* resample_kernels_avx2() {
  return __builtin_cpu_supports("avx2") ? &kLoops : nullptr;
}

}  // namespace bench::training

#else

namespace bench::training {

const ResampleKernels* resample_kernels_avx2() { return nullptr; }

}  // namespace bench::training

#endif
