// Compares the ranks' models, which must be bit-identical after every step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/group.h"
#include "training/engine/replica.h"

namespace bench::training {

/// A parameter's name and the hash of its bits.
struct TensorHash {
  std::string name;
  std::uint64_t hash = 0;
};
/// Of all parameters of a replica, in the order of the graph.
std::vector<TensorHash> tensor_hashes(const Replica& replica);
/// One hash of them all.
std::uint64_t combined_hash(const std::vector<TensorHash>& hashes);

/// "rank 2 and rank 0 differ in 'layer0.wo': ...", for the first differing tensor of the first
/// differing rank; "" if all are equal. Call on every rank; all get the same result.
std::string find_replica_difference(Group& group, const std::vector<TensorHash>& own);

}  // namespace bench::training
