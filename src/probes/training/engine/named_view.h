// A named tensor, for checkpoints and checks.
#pragma once

#include <string>

#include "probes/training/kernels/memory.h"
#include "probes/training/kernels/view.h"

namespace bench::training {

struct NamedView {
  std::string name;
  View view;
  Memory* memory = nullptr;  // null: host memory
};

}  // namespace bench::training
