// A tensor with a name, for those who save or look at it from outside.
#pragma once

#include <string>

#include "probes/training/kernels/memory.h"
#include "probes/training/kernels/view.h"

namespace bench::training {

struct NamedView {
  std::string name;
  View view;
  Memory* memory = nullptr;  // where it lies; null: in the host's
};

}  // namespace bench::training
