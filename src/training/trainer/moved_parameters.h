// Checks that training changes every parameter. Parts of 1024 elements are compared separately, so
// that a frozen range inside a matrix is found; of a lookup table, where only looked-up rows are
// trained, one changed part is enough. A 16-bit parameter can stay the same while its f32 master
// moves by less than its last bit (a gain of 1 in bf16 stays until it has lost 0.002): then the
// rank that updates the master decides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/group.h"
#include "training/engine/replica.h"

namespace bench::training {

class MovedParameters {
 public:
  /// Stores hashes of the trainable parameters. The replica must outlive this object.
  explicit MovedParameters(const Replica& replica);

  /// Parameters with an unchanged part (tables: all parts unchanged): "layer0.wo (2 of 4 parts)".
  /// Call on every rank: each knows the masters that it updates.
  std::vector<std::string> unchanged_parameters(Group& group) const;
  std::size_t parameters() const { return tensors_.size(); }

 private:
  /// The master weights of one part that this rank updates.
  struct Masters {
    std::int64_t owned = 0;    // elements
    std::int64_t settled = 0;  // of these, equal to their master, or whose master is not set
    std::uint64_t sum = 0;     // hash of the masters' bits, in order
  };
  struct Snapshot {
    int id;
    bool is_lookup;
    std::vector<std::uint64_t> parts;
    std::vector<Masters> masters;  // for 16-bit types, after the first update
  };
  std::vector<std::uint64_t> parts_of(const Weights& here, int tensor) const;
  std::vector<Masters> masters_of(const Weights& here, int tensor) const;
  std::vector<double> count_unchanged(const Weights& here, const Snapshot& before) const;

  const Replica& replica_;
  std::vector<Snapshot> tensors_ = {};
};

}  // namespace bench::training
