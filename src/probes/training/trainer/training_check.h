// What is looked at beside the target, because a target alone misses most faults: a model learns
// with a tenth of its parameters frozen, with gradients that flip now and then, with wrong inputs
// now and then.
#pragma once

#include <string>

namespace bench::training {

struct TrainingCheck {
  std::string check;  // "parameters_move"
  bool held = true;
  std::string text = {};  // what was compared, or what was found
};

}  // namespace bench::training
