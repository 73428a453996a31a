// The result of a correctness check. The target alone misses most faults: a model still learns with
// a tenth of its parameters frozen, with occasional corrupt gradients, or with occasional wrong
// inputs.
#pragma once

#include <string>
#include <utility>

namespace bench::training {

struct TrainingCheck {
  std::string check;  // "parameters_move"
  bool held = true;
  std::string text = {};  // what was compared, or the fault found
};

/// Holds if `found` is empty; the text is then `otherwise`, which states what was compared.
inline TrainingCheck check_of(std::string name, const std::string& found, std::string otherwise) {
  return {std::move(name), found.empty(), found.empty() ? std::move(otherwise) : found};
}

}  // namespace bench::training
