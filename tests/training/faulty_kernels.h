// Kernels with one fault each, which gradient checks must find.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/kernels/kernel_set.h"

namespace bench::training {

struct Fault {
  std::string name;
  std::function<void(KernelSet&)> inject;
};

/// Faults of the Llama block known from research.
std::vector<Fault> llama_faults();

}  // namespace bench::training
