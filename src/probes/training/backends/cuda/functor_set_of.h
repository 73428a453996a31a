// For nvcc alone: included by one file for each type.
#pragma once

#include "probes/training/backends/cuda/device_launch.h"
#include "probes/training/kernels/functors/functor_groups.h"
#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

template <class T>
KernelSet functor_set_of(DeviceContext& context) {
  KernelSet set;
  put_functors<T>(set, DeviceLaunch(context));
  return set;
}

}  // namespace bench::training
