// Compares GPU functors with host kernels, kernel by kernel, and verifies that faults are found.
#include "tests/training/kernel_cases.h"

#include "tests/support/catch.h"
#include "tests/training/functor_set.h"

namespace bench::training {

TEST_CASE("kernel cases: functors match host kernels, and one damaged element is found") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    HostLaunch launch;
    const KernelSet functors = functor_kernels(launch, dtype), host = host_kernels(dtype);
    for (const KernelCase& one : kernel_cases(dtype)) {
      INFO(one.name << " in " << to_string(dtype));
      const KernelDifference worst = compare_kernels(one, functors, host);
      CHECK(worst.found < kernel_tolerance(dtype));
      CHECK(worst.damaged > kernel_tolerance(dtype));
    }
  }
}

}  // namespace bench::training
