#include "probes/training/parallel/bucket_exchange.h"

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "probes/training/parallel/buckets.h"

namespace bench::training {
namespace {

Collectives& collectives_of(Group& group, Dtype dtype) {
  Collectives* collectives = group.collectives();
  if (collectives == nullptr)
    throw Error(ErrorKind::environment, no_collectives(group),
                "train with one rank, or join the ranks over MPI");
  for (const CollectiveOp op : {CollectiveOp::all_to_all, CollectiveOp::all_gather,
                                CollectiveOp::all_reduce, CollectiveOp::reduce_scatter})
    if (const std::string_view why = collectives->obstacle(op, dtype, false); !why.empty())
      throw Error(ErrorKind::environment,
                  "gradients of " + std::string(to_string(dtype)) + " cannot be exchanged by " +
                      std::string(to_string(op)) + ": " + std::string(why),
                  "train in f32");
  return *collectives;
}

std::size_t bytes_of(View view) {
  return static_cast<std::size_t>(view.elements()) * size_of(view.dtype);
}

std::int64_t padded_bytes(std::int64_t blocks, int ranks, Dtype dtype) {
  return shard_blocks({0, blocks}, ranks) * ranks * kBlock *
         static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

BucketExchange::BucketExchange(Group& group, const KernelSet& kernels, Dtype dtype,
                               std::int64_t blocks, SumOrder order)
    : collectives_(collectives_of(group, dtype)),
      kernels_(kernels),
      dtype_(dtype),
      rank_(group.rank()),
      size_(group.size()),
      order_(order),
      outgoing_(padded_bytes(blocks, size_, dtype), "gradients to send"),
      incoming_(outgoing_.bytes(), "received gradients") {}

/// The bucket as one part of equal length for each rank: the row's own memory where that fits.
View BucketExchange::padded(View row, BlockRange bucket) {
  const View own = blocks_in(row, bucket);
  const std::int64_t elements = shard_blocks(bucket, size_) * size_ * kBlock;
  if (own.elements() == elements) return own;
  std::memcpy(outgoing_.data(), own.data, bytes_of(own));
  return {outgoing_.data(), 1, elements, dtype_};
}

/// Brings these blocks of a padded bucket back where they belong.
void BucketExchange::unpad(View from, View row, BlockRange blocks, BlockRange bucket) const {
  const View to = blocks_in(row, blocks);
  const View own = part_of(from, (blocks.first - bucket.first) * kBlock, to.elements());
  if (own.data != to.data && to.elements() > 0) std::memcpy(to.data, own.data, bytes_of(to));
}

void BucketExchange::sum_shard(View parts) {
  const View received{incoming_.data(), 1, parts.elements(), dtype_};
  const View sum = part(parts, rank_);
  const auto count = static_cast<std::size_t>(sum.elements());
  if (order_ == SumOrder::library) {
    collectives_.run(CollectiveOp::reduce_scatter, parts.data, received.data, count, dtype_);
    std::memcpy(sum.data, received.data, bytes_of(sum));
    return;
  }
  collectives_.run(CollectiveOp::all_to_all, parts.data, received.data, count, dtype_);
  for (int rank = 0; rank < size_; ++rank)
    kernels_.elementwise->copy(part(received, rank), sum, rank > 0);
}

void BucketExchange::gather_parts(View parts) {
  const View own = part(parts, rank_);
  collectives_.run(CollectiveOp::all_gather, own.data, parts.data,
                   static_cast<std::size_t>(own.elements()), dtype_);
}

void BucketExchange::all_reduce(View row, BlockRange bucket) {
  if (order_ == SumOrder::library) {
    const View own = blocks_in(row, bucket);
    collectives_.run(CollectiveOp::all_reduce, own.data, own.data,
                     static_cast<std::size_t>(own.elements()), dtype_);
    return;
  }
  const View parts = padded(row, bucket);
  sum_shard(parts);
  gather_parts(parts);
  unpad(parts, row, bucket, bucket);
}

void BucketExchange::reduce_scatter(View row, BlockRange bucket) {
  const View parts = padded(row, bucket);
  sum_shard(parts);
  unpad(parts, row, shard_of(bucket, rank_, size_), bucket);
}

void BucketExchange::all_gather(View row, BlockRange bucket) {
  const View parts = padded(row, bucket);
  gather_parts(parts);
  unpad(parts, row, bucket, bucket);
}

std::vector<double> gather_numbers(Group& group, std::vector<double> own) {
  if (group.size() == 1) return own;
  std::vector<double> all(own.size() * static_cast<std::size_t>(group.size()));
  group.collectives()->run(CollectiveOp::all_gather, own.data(), all.data(), own.size(),
                           Dtype::f64);
  return all;
}

}  // namespace bench::training
