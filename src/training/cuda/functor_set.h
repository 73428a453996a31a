// The kernel groups made of functors on a GPU: all except GEMMs.
#pragma once

#include "training/cuda/device_context.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

/// `context` must outlive them.
KernelSet functor_set_f32(DeviceContext& context);
KernelSet functor_set_bf16(DeviceContext& context);
KernelSet functor_set_f16(DeviceContext& context);

}  // namespace bench::training
