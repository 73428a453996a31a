// The kernels with AVX-512.
#include "core/compiled_for.h"
#include "training/host/before_target.h"

#if defined(__x86_64__)
BENCH_COMPILED_FOR("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", "prefer-vector-width=512")
#define BENCH_ISA isa_avx512
#define BENCH_VECTOR_BYTES 64
#define BENCH_VECTOR_REGISTERS 32
#include "training/host/kernel_set_host.h"

namespace bench::training {

KernelSet avx512_kernels(Dtype dtype) {
  return dtype == Dtype::f64 ? isa_avx512::kernel_set<double>() : isa_avx512::kernel_set<float>();
}

}  // namespace bench::training
BENCH_COMPILED_FOR_END
#endif
