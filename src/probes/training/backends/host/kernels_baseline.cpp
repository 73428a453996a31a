// The kernels for any CPU: 128-bit vectors. What is inline and shared with other files must come
// before the target below, or the linker might give those files the copy compiled for this
// extension.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "probes/training/backends/host/checked_id.h"
#include "probes/training/backends/host/host_kernels.h"

#define BENCH_ISA isa_baseline
#define BENCH_VECTOR_BYTES 16
#if defined(__aarch64__)
#define BENCH_VECTOR_REGISTERS 32
#else
#define BENCH_VECTOR_REGISTERS 16
#endif
#include "probes/training/backends/host/kernel_set_host.h"

namespace bench::training {

KernelSet baseline_kernels(Dtype dtype) {
  return dtype == Dtype::f64 ? isa_baseline::kernel_set<double>()
                             : isa_baseline::kernel_set<float>();
}

}  // namespace bench::training
