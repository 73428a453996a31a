// The cases of kernel_cases.h that convolutional networks and object detectors add.
#pragma once

#include <vector>

#include "tests/training/kernel_cases.h"

namespace bench::training {

std::vector<KernelCase> convolution_cases(Dtype dtype);

}  // namespace bench::training
