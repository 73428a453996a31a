// What is looked at beside the target, because a target alone misses most faults: a model learns
// with a tenth of its parameters frozen, with gradients that flip now and then, with wrong inputs
// now and then.
#pragma once

#include <string>
#include <utility>

namespace bench::training {

struct TrainingCheck {
  std::string check;  // "parameters_move"
  bool held = true;
  std::string text = {};  // what was compared, or what was found
};

/// Held where nothing was `found`; then it says what was compared.
inline TrainingCheck check_of(std::string name, const std::string& found, std::string otherwise) {
  return {std::move(name), found.empty(), found.empty() ? std::move(otherwise) : found};
}

}  // namespace bench::training
