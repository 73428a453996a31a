// The functors of GPUs against the host's kernels, kernel by kernel, and that a wrong one is seen.
#include "tests/training/kernel_cases.h"

#include "tests/support/catch.h"
#include "tests/training/functor_set.h"

namespace bench::training {

TEST_CASE("kernel cases: each functor gives what the host's kernel gives, in f32, bf16 and f16") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    HostLaunch launch;
    const KernelSet functors = functor_kernels(launch, dtype), host = host_kernels(dtype);
    for (const KernelCase& one : kernel_cases(dtype)) {
      INFO(one.name << " in " << to_string(dtype));
      CHECK(compare_kernels(one, functors, host) < kernel_tolerance(dtype));
    }
  }
}

TEST_CASE("kernel cases: one damaged element of any kernel's results is found") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    HostLaunch launch;
    const KernelSet functors = functor_kernels(launch, dtype), host = host_kernels(dtype);
    for (const KernelCase& one : kernel_cases(dtype)) {
      INFO(one.name << " in " << to_string(dtype));
      CHECK(compare_kernels(one, functors, host, true) > kernel_tolerance(dtype));
    }
  }
}

}  // namespace bench::training
