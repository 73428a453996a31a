// Kernels that a device or a type does not have yet: their use says so.
#pragma once

#include <memory>

#include "probes/training/kernels/recommender.h"

namespace bench::training {

/// Each call throws Error(input): "click models have no kernels <where>".
std::unique_ptr<RecommenderKernels> missing_recommender(const char* where);

}  // namespace bench::training
