// All-reduce, reduce-scatter and all-gather of gradient or parameter buckets over the ranks of a
// group, by the calling thread or on a device's stream.
#pragma once

#include <cstdint>
#include <vector>

#include "devices/collectives.h"
#include "devices/group.h"
#include "training/engine/gradient_blocks.h"
#include "training/engine/plan.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"
#include "training/parallel/training_kernels.h"

namespace bench::training {

/// The row of a plan's gradients, without memory.
View gradient_row(const Plan& plan);

/// A part of the row of gradients, exchanged as a whole as soon as it is final. The row is stored
/// in the order in which gradients become final, so buckets are contiguous and become final in
/// order.
struct Bucket {
  BlockRange blocks = {};
  int action = -1;  // of the plan, in the last micro-batch, that completes the bucket
};

/// Buckets of about `bytes`, each but the last with equally many blocks per rank. A bucket is final
/// when all its gradients and the previous bucket are.
std::vector<Bucket> make_buckets(const Plan& plan, std::int64_t bytes, int ranks);

std::int64_t largest_bucket(const std::vector<Bucket>& buckets);  // in blocks

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

/// Where sums are computed, and in which order.
enum class SumOrder {
  /// Ranks exchange their parts of a bucket and each sums its shard in the order of ranks: the bits
  /// depend only on the number of ranks, not on the library, its algorithm, the network or
  /// sharding. Moves as many bytes as a ring all-reduce.
  ranks,
  /// The library's all-reduce or reduce-scatter. With more than two ranks, the bits may depend on
  /// the library, the size and sharding.
  library
};

class BucketExchange {
 public:
  /// For buckets of up to `blocks` blocks, in the kernels' memory. Without a stream, the group's
  /// collectives are used and the calling thread runs the kernels; with one, make each call inside
  /// ExchangeStream::enqueue(). Throws Error(environment) if the library does not support it.
  BucketExchange(Group& group, const KernelSet& kernels, ExchangeStream* stream, Dtype dtype,
                 std::int64_t blocks, SumOrder order);

  /// Every rank's bucket of `row` becomes the sum over all ranks.
  void all_reduce(View row, BlockRange bucket);
  /// The same for a whole row, in as many buckets as it needs.
  void all_reduce_row(View row);
  /// This rank's shard becomes the sum; the rest of the bucket is undefined afterwards.
  void reduce_scatter(View row, BlockRange bucket);
  /// Every rank's bucket becomes the concatenation of all shards.
  void all_gather(View row, BlockRange bucket);

  /// Size of the exchange's own buffers.
  std::int64_t bytes() const { return outgoing_.bytes() + incoming_.bytes(); }
  /// The same before there is one.
  static std::int64_t bytes_for(std::int64_t blocks, int ranks, Dtype dtype);

 private:
  View padded(View row, BlockRange bucket);
  void unpad(View from, View row, BlockRange blocks, BlockRange bucket);
  void sum_shard(View parts);
  void gather_parts(View parts);
  View part(View parts, int rank) const {
    return part_of(parts, rank * (parts.elements() / size_), parts.elements() / size_);
  }

  Collectives& collectives_;
  ElementwiseKernels& elementwise_;
  Dtype dtype_;
  int rank_;
  int size_;
  SumOrder order_;
  std::int64_t blocks_;  // of a bucket at most
  MemoryBlock outgoing_, incoming_;
};

}  // namespace bench::training
