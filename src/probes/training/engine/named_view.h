// Memory that belongs to a training's state, by name: what a checkpoint saves and loads.
#pragma once

#include <string>

#include "probes/training/kernels/view.h"

namespace bench::training {

struct NamedView {
  std::string name;
  View view;
};

}  // namespace bench::training
