// The cases of kernel_cases.h that click models add, in f32.
#pragma once

#include <vector>

#include "tests/training/kernel_cases.h"

namespace bench::training {

std::vector<KernelCase> recommender_cases();

}  // namespace bench::training
