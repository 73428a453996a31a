// What was opened to train on and, where it is given, to evaluate on.
#pragma once

#include <optional>

#include "training/sources/random.h"

namespace bench::training {

template <class Opened>
struct SplitFiles {
  Opened train;
  std::optional<Opened> evaluation = {};

  /// Null where there is nothing to evaluate on.
  const Opened* of(Split split) const {
    if (split == Split::train) return &train;
    return evaluation ? &*evaluation : nullptr;
  }
};

}  // namespace bench::training
