// For nvcc alone: included by one file for each type.
#pragma once

#include "probes/training/backends/cuda/device_launch.h"
#include "probes/training/kernels/functors/functor_attention.h"
#include "probes/training/kernels/functors/functor_kernels.h"
#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

template <class T>
KernelSet functor_set_of(DeviceContext& context) {
  const DeviceLaunch launch(context);
  KernelSet set;
  set.norm = std::make_unique<FunctorNorm<T, DeviceLaunch>>(launch);
  set.rope = std::make_unique<FunctorRope<T, DeviceLaunch>>(launch);
  set.attention = std::make_unique<FunctorAttention<T, DeviceLaunch>>(launch);
  set.activation = std::make_unique<FunctorActivation<T, DeviceLaunch>>(launch);
  set.elementwise = std::make_unique<FunctorElementwise<T, DeviceLaunch>>(launch);
  set.embedding = std::make_unique<FunctorEmbedding<T, DeviceLaunch>>(launch);
  set.loss = std::make_unique<FunctorLoss<T, DeviceLaunch>>(launch);
  set.optimizer = std::make_unique<FunctorUpdates<T, DeviceLaunch>>(launch);
  return set;
}

}  // namespace bench::training
