// The cases of kernel_cases.h that policies add.
#pragma once

#include <vector>

#include "tests/training/kernel_cases.h"

namespace bench::training {

std::vector<KernelCase> policy_cases(Dtype dtype);

}  // namespace bench::training
