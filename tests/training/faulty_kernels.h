// Kernels that are wrong in one way each: what gradient checks must find.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

struct Fault {
  std::string name;
  std::function<void(KernelSet&)> inject;
};

/// Faults of training that research knows from practice; those of the Llama block.
std::vector<Fault> llama_faults();

}  // namespace bench::training
