#include "probes/training/backends/host/host_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "probes/training/backends/host/narrow_kernels.h"

namespace bench::training {

std::vector<std::string_view> host_kernel_isas() {
  std::vector<std::string_view> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    found.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back("avx2");
#endif
  found.push_back("baseline");
  return found;
}

KernelSet host_kernels(Dtype dtype, std::string_view isa) {
  if (dtype == Dtype::bf16 || dtype == Dtype::f16)
    return narrow_kernels(host_kernels(Dtype::f32, isa), dtype);
  if (dtype != Dtype::f32 && dtype != Dtype::f64)
    throw Error(ErrorKind::input,
                "CPU kernels do not support " + std::string(to_string(dtype)) + " tensors",
                "train in f32 on CPUs");
  const auto isas = host_kernel_isas();
  if (std::find(isas.begin(), isas.end(), isa) == isas.end())
    throw Error(ErrorKind::input, "this CPU does not support kernels '" + std::string(isa) + "'",
                "use baseline, which runs on every CPU");
#if defined(__x86_64__)
  if (isa == "avx512") return avx512_kernels(dtype);
  if (isa == "avx2") return avx2_kernels(dtype);
#endif
  return baseline_kernels(dtype);
}

KernelSet host_kernels(Dtype dtype) { return host_kernels(dtype, host_kernel_isa()); }

std::string_view host_kernel_isa() {
  const char* asked = std::getenv("BENCH_TRAINING_ISA");
  return asked && *asked ? asked : host_kernel_isas().front();
}

}  // namespace bench::training
