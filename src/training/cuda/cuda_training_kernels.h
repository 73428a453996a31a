// Training on the current GPU.
#pragma once

#include <memory>

#include "training/parallel/training_kernels.h"

namespace bench {

std::unique_ptr<TrainingKernels> make_cuda_training_kernels();

}  // namespace bench
