// GPU kernels compiled for the CPU; GEMMs are the host's.
#pragma once

#include "tests/training/host_launch.h"
#include "training/host/host_kernels.h"
#include "training/kernels/functors/functor_groups.h"

namespace bench::training {

template <class T>
KernelSet functor_set(HostLaunch& launch, Dtype dtype) {
  KernelSet set = host_kernels(dtype);
  put_functors<T, HostLaunch&>(set, launch);
  return set;
}

inline KernelSet functor_kernels(HostLaunch& launch, Dtype dtype) {
  if (dtype == Dtype::bf16) return functor_set<Bf16>(launch, dtype);
  if (dtype == Dtype::f16) return functor_set<F16>(launch, dtype);
  return functor_set<float>(launch, dtype);
}

}  // namespace bench::training
