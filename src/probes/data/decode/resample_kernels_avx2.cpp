// The loops compiled for AVX2, whatever the rest is compiled for. What is inline and shared with
// other files must come before the pragma below, or the linker might give those files the copy that
// is compiled for this extension.
#include <cstring>
#include <span>

#include "probes/data/decode/resample_kernels.h"

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2")
#include "probes/data/decode/resample_loops.h"
#pragma GCC pop_options

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
