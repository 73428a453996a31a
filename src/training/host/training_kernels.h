// Training on the CPU.
#pragma once

#include <memory>

#include "training/parallel/training_kernels.h"

namespace bench {

std::unique_ptr<TrainingKernels> make_host_training_kernels();

}  // namespace bench
