// Whether all ranks have the same model: they should, to the bit, after every step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/group.h"
#include "probes/training/engine/replica.h"

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

/// "rank 2 has another 'layer0.wo' than rank 0: ...", of the first rank that differs its first
/// tensor that does; "" where all are equal. Every rank calls it and gets the same.
std::string find_replica_difference(Group& group, const std::vector<TensorHash>& own);

}  // namespace bench::training
