// GEMM with GELU: fused if the device supports it, else two kernels.
#pragma once

#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

/// multiply() with a GELU step, fused or not.
void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c);

}  // namespace bench::training
