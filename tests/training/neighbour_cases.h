// The cases of kernel_cases.h that attention over sampled neighbours adds.
#pragma once

#include <vector>

#include "tests/training/kernel_cases.h"

namespace bench::training {

std::vector<KernelCase> neighbour_cases(Dtype dtype);

}  // namespace bench::training
