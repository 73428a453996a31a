// Whether training reaches every parameter. Parts of 1024 elements are told apart, so that a frozen
// range inside a matrix is found too; of a table that only looked-up rows of are trained, it is
// enough that some of it moves. Parameters in 16 bits may stay where they are while their f32
// master moves by less than their last bit (a gain of 1 in bf16 stays until it has lost 0.002):
// then it is the master that tells, at the rank that updates it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/group.h"
#include "probes/training/engine/replica.h"

namespace bench::training {

class MovedParameters {
 public:
  /// Remembers what the trainable parameters are now. The replica must outlive it.
  explicit MovedParameters(const Replica& replica);

  /// Parameters of which a part (of a table: everything) is as it was: "layer0.wo (2 of 4 parts)".
  /// Every rank calls it: each knows the masters of what it updates.
  std::vector<std::string> unchanged_parameters(Group& group) const;
  std::size_t parameters() const { return tensors_.size(); }

 private:
  /// Of one part, of what this rank updates.
  struct Masters {
    std::int64_t owned = 0;    // elements
    std::int64_t settled = 0;  // of them, those of which the parameter is the master, or not set
    std::uint64_t sum = 0;     // of the masters' bits, in their order
  };
  struct Snapshot {
    int id;
    bool is_lookup;
    std::vector<std::uint64_t> parts;
    std::vector<Masters> masters;  // of 16 bits, where updates were made before
  };
  std::vector<std::uint64_t> parts_of(const Weights& here, int tensor) const;
  std::vector<Masters> masters_of(const Weights& here, int tensor) const;
  std::vector<double> count_unchanged(const Weights& here, const Snapshot& before) const;

  const Replica& replica_;
  std::vector<Snapshot> tensors_ = {};
};

}  // namespace bench::training
