// Placeholders for kernels that a device or type does not support yet.
#pragma once

#include <memory>

#include "probes/training/kernels/recommender.h"

namespace bench::training {

/// Each call throws Error(input): "recommender kernels are not available <where>".
std::unique_ptr<RecommenderKernels> missing_recommender(const char* where);

}  // namespace bench::training
