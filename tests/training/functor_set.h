// The kernels that GPUs run, as the CPU runs them; products are the host's.
#pragma once

#include "probes/training/backends/host/host_kernels.h"
#include "probes/training/kernels/functors/functor_attention.h"
#include "probes/training/kernels/functors/functor_kernels.h"
#include "probes/training/kernels/functors/host_launch.h"

namespace bench::training {

template <class T>
KernelSet functor_set(HostLaunch& launch, Dtype dtype) {
  KernelSet set = host_kernels(dtype);
  set.norm = std::make_unique<FunctorNorm<T, HostLaunch&>>(launch);
  set.rope = std::make_unique<FunctorRope<T, HostLaunch&>>(launch);
  set.attention = std::make_unique<FunctorAttention<T, HostLaunch&>>(launch);
  set.activation = std::make_unique<FunctorActivation<T, HostLaunch&>>(launch);
  set.elementwise = std::make_unique<FunctorElementwise<T, HostLaunch&>>(launch);
  set.embedding = std::make_unique<FunctorEmbedding<T, HostLaunch&>>(launch);
  set.loss = std::make_unique<FunctorLoss<T, HostLaunch&>>(launch);
  set.optimizer = std::make_unique<FunctorUpdates<T, HostLaunch&>>(launch);
  return set;
}

inline KernelSet functor_kernels(HostLaunch& launch, Dtype dtype) {
  return dtype == Dtype::bf16 ? functor_set<Bf16>(launch, dtype)
                              : functor_set<float>(launch, dtype);
}

}  // namespace bench::training
