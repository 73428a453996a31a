// The kernels with AVX2 and FMA.
#include "core/compiled_for.h"
#include "training/host/before_target.h"

#if defined(__x86_64__)
BENCH_COMPILED_FOR("avx2,fma")
#define BENCH_ISA isa_avx2
#define BENCH_VECTOR_BYTES 32
#define BENCH_VECTOR_REGISTERS 16
#include "training/host/kernel_set_host.h"

namespace bench::training {

KernelSet avx2_kernels(Dtype dtype) {
  return dtype == Dtype::f64 ? isa_avx2::kernel_set<double>() : isa_avx2::kernel_set<float>();
}

}  // namespace bench::training
BENCH_COMPILED_FOR_END
#endif
