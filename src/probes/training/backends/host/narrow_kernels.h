// Kernels of bf16 or f16 tensors made of kernels in f32: what a call reads is widened, what it
// writes is rounded to nearest. No faster than f32; what a GPU computes in them is held against
// them.
#pragma once

#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

/// `wide` has every group.
KernelSet narrow_kernels(KernelSet wide, Dtype dtype);

}  // namespace bench::training
