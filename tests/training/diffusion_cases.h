// The cases of kernel_cases.h that diffusion transformers add.
#pragma once

#include <vector>

#include "tests/training/kernel_cases.h"

namespace bench::training {

std::vector<KernelCase> diffusion_cases(Dtype dtype);

}  // namespace bench::training
