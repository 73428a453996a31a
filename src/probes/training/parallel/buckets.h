// The row of gradients cut into buckets, each exchanged as a whole as soon as it is final. The row
// is stored in the order in which gradients become final, so buckets are neighbouring blocks and become
// final one after another.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/training/engine/gradient_blocks.h"
#include "probes/training/engine/plan.h"

namespace bench::training {

struct Bucket {
  BlockRange blocks = {};
  int action = -1;  // of the plan: after it, in the last micro-batch, the bucket is final
};

/// Buckets of about `bytes`, each of as many blocks for every rank, but for the last. A bucket is
/// final when the last gradient that reaches into it is, and not before the bucket in front of it.
std::vector<Bucket> make_buckets(const Plan& plan, std::int64_t bytes, int ranks);

/// Blocks of each rank's shard of a bucket; the last shards may have fewer or none.
inline std::int64_t shard_blocks(BlockRange bucket, int ranks) {
  return (bucket.size() + ranks - 1) / ranks;
}

/// The shard of one rank.
inline BlockRange shard_of(BlockRange bucket, int rank, int ranks) {
  const std::int64_t each = shard_blocks(bucket, ranks);
  return {std::min(bucket.first + rank * each, bucket.last),
          std::min(bucket.first + (rank + 1) * each, bucket.last)};
}

}  // namespace bench::training
