// Whether training reaches every parameter. Parts of 1024 elements are told apart, so that a frozen
// range inside a matrix is found too; of a table that only looked-up rows of are trained, it is
// enough that some of it moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/training/engine/weights.h"

namespace bench::training {

class MovedParameters {
 public:
  /// Remembers what the trainable parameters are now. Both must outlive it.
  MovedParameters(const Plan& plan, const Weights& weights);

  /// Parameters of which a part (of a table: everything) is as it was: "layer0.wo (2 of 4 parts)".
  std::vector<std::string> unmoved() const;
  std::size_t parameters() const { return tensors_.size(); }

 private:
  struct Remembered {
    int id;
    bool looked_up;
    std::vector<std::uint64_t> parts;
  };
  std::vector<std::uint64_t> parts_of(const Weights& here, int tensor) const;

  const Plan& plan_;
  const Weights& weights_;
  std::vector<Remembered> tensors_ = {};
};

}  // namespace bench::training
