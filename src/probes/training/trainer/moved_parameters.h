// Whether training reaches every parameter. Parts of 1024 elements are told apart, so that a frozen
// range inside a matrix is found too; of a table that only looked-up rows of are trained, it is
// enough that some of it moves. Parameters in 16 bits may stay where they are while their f32
// master moves by less than their last bit (a gain of 1 in bf16 stays until it has lost 0.002):
// then it is the master that tells, at the rank that updates it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/training/engine/replica.h"

namespace bench::training {

class MovedParameters {
 public:
  /// Remembers what the trainable parameters are now. The replica must outlive it.
  explicit MovedParameters(const Replica& replica);

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
  std::vector<std::int64_t> settled(const Weights& here, int tensor) const;
  std::size_t still(const Weights& here, const Remembered& before) const;

  const Replica& replica_;
  std::vector<Remembered> tensors_ = {};
};

}  // namespace bench::training
