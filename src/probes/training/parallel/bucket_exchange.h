// All-reduce, reduce-scatter and all-gather of gradient or parameter buckets over the ranks of a
// group, by the calling thread or on a device's stream.
#pragma once

#include <cstdint>

#include "probes/device/collectives.h"
#include "probes/group.h"
#include "probes/training/engine/gradient_blocks.h"
#include "probes/training/engine/memory_block.h"
#include "probes/training/kernels/kernel_set.h"
#include "probes/training/parallel/exchange_stream.h"

namespace bench::training {

/// Where sums are computed, and in which order.
enum class SumOrder {
  /// Ranks send each other their parts of a bucket and each sums its shard in the order of ranks:
  /// the bits depend only on the number of ranks, not on the library, its algorithm, the network or
  /// sharding. Moves as many bytes as a ring all-reduce.
  ranks,
  /// The library's all-reduce or reduce-scatter. Two ranks give the same bits; with more they may
  /// change with the library, the size and sharding.
  library
};

class BucketExchange {
 public:
  /// For buckets of up to `blocks` blocks, in the kernels' memory. Without a stream, the group's data
  /// plane exchanges and the calling thread runs the kernels; with one, make each call inside
  /// ExchangeStream::enqueue(). Throws Error(environment) if the library does not support it.
  BucketExchange(Group& group, const KernelSet& kernels, ExchangeStream* stream, Dtype dtype,
                 std::int64_t blocks, SumOrder order);

  /// Every rank's bucket of `row` becomes the sum over all ranks.
  void all_reduce(View row, BlockRange bucket);
  /// This rank's shard becomes the sum; the rest of the bucket is undefined afterwards.
  void reduce_scatter(View row, BlockRange bucket);
  /// Every rank's bucket becomes the concatenation of all shards.
  void all_gather(View row, BlockRange bucket);

  /// Size of the exchange's own buffers.
  std::int64_t bytes() const { return outgoing_.bytes() + incoming_.bytes(); }

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
  MemoryBlock outgoing_, incoming_;
};

}  // namespace bench::training
