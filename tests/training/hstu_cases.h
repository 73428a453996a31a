// The cases of kernel_cases.h that hierarchical sequential transduction units add.
#pragma once

#include <vector>

#include "tests/training/kernel_cases.h"

namespace bench::training {

std::vector<KernelCase> hstu_cases(Dtype dtype);

}  // namespace bench::training
