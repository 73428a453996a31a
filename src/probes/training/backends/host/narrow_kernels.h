// bf16 and f16 kernels built on f32 kernels: inputs are widened, outputs are rounded to nearest. Not
// faster than f32; the reference for what a GPU computes in these types.
#pragma once

#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

/// `wide` has every group.
KernelSet narrow_kernels(KernelSet wide, Dtype dtype);

}  // namespace bench::training
