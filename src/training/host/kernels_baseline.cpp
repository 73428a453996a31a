// The kernels for any CPU: 128-bit vectors.
#include "training/host/before_target.h"

#define BENCH_ISA isa_baseline
#define BENCH_VECTOR_BYTES 16
#if defined(__aarch64__)
#define BENCH_VECTOR_REGISTERS 32
#else
#define BENCH_VECTOR_REGISTERS 16
#endif
#include "training/host/kernel_set_host.h"

namespace bench::training {

KernelSet baseline_kernels(Dtype dtype) {
  return dtype == Dtype::f64 ? isa_baseline::kernel_set<double>()
                             : isa_baseline::kernel_set<float>();
}

}  // namespace bench::training
