#include "training/parallel/bucket_exchange.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"

namespace bench::training {
namespace {

/// By block of the gradient row, `total` in number: the action after which it is final.
std::vector<int> final_actions(const Plan& plan, std::int64_t bytes_of_block, std::int64_t total) {
  std::vector<int> actions(static_cast<std::size_t>(total), -1);
  for (const auto& [tensor, action] : plan.gradient_order) {
    const Slot& slot = plan.gradients[static_cast<std::size_t>(tensor)];
    const Buffer& buffer = plan.buffers[static_cast<std::size_t>(slot.buffer)];
    const std::int64_t last = (buffer.offset + buffer.bytes - 1) / bytes_of_block;
    for (std::int64_t block = buffer.offset / bytes_of_block; block <= last; ++block) {
      int& known = actions[static_cast<std::size_t>(block)];
      known = std::max(known, action);
    }
  }
  return actions;
}

std::vector<CollectiveOp> operations_of(SumOrder order) {
  if (order == SumOrder::ranks) return {CollectiveOp::all_to_all, CollectiveOp::all_gather};
  return {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather};
}

Collectives& collectives_of(Group& group, ExchangeStream* stream, Dtype dtype, SumOrder order) {
  Collectives* collectives = stream != nullptr ? &stream->collectives() : group.collectives();
  if (collectives == nullptr)
    throw Error(ErrorKind::environment, no_collectives(group),
                "train with one rank or start the ranks over MPI");
  for (const CollectiveOp op : operations_of(order))
    if (const std::string_view why = collectives->obstacle(op, dtype, false); !why.empty())
      throw Error(ErrorKind::environment,
                  "gradients of " + std::string(to_string(dtype)) + " cannot be exchanged by " +
                      std::string(to_string(op)) + ": " + std::string(why),
                  "train in f32");
  return *collectives;
}

std::int64_t padded_bytes(std::int64_t blocks, int ranks, Dtype dtype) {
  return shard_blocks({0, blocks}, ranks) * ranks * kBlock *
         static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

View gradient_row(const Plan& plan) {
  const Dtype dtype = plan.graph->compute();
  return {nullptr, 1, plan.bytes(Arena::gradients) / static_cast<std::int64_t>(size_of(dtype)),
          dtype};
}

std::vector<Bucket> make_buckets(const Plan& plan, std::int64_t bytes, int ranks) {
  const std::int64_t block_bytes =
      kBlock * static_cast<std::int64_t>(size_of(plan.graph->compute()));
  const std::int64_t total = (plan.bytes(Arena::gradients) + block_bytes - 1) / block_bytes;
  const std::vector<int> actions = final_actions(plan, block_bytes, total);
  const std::int64_t each = std::max<std::int64_t>(1, bytes / (block_bytes * ranks)) * ranks;
  std::vector<Bucket> buckets;
  int action = plan.backward_begin;
  for (std::int64_t first = 0; first < total; first += each) {
    const BlockRange blocks{first, std::min(first + each, total)};
    for (std::int64_t block = blocks.first; block < blocks.last; ++block)
      action = std::max(action, actions[static_cast<std::size_t>(block)]);
    buckets.push_back({blocks, action});
  }
  return buckets;
}

std::int64_t largest_bucket(const std::vector<Bucket>& buckets) {
  std::int64_t most = 0;
  for (const Bucket& bucket : buckets) most = std::max(most, bucket.blocks.size());
  return most;
}

std::int64_t BucketExchange::bytes_for(std::int64_t blocks, int ranks, Dtype dtype) {
  return 2 * padded_bytes(blocks, ranks, dtype);
}

BucketExchange::BucketExchange(Group& group, const KernelSet& kernels, ExchangeStream* stream,
                               Dtype dtype, std::int64_t blocks, SumOrder order)
    : collectives_(collectives_of(group, stream, dtype, order)),
      elementwise_(stream != nullptr ? stream->elementwise() : *kernels.elementwise),
      dtype_(dtype),
      rank_(group.rank()),
      size_(group.size()),
      order_(order),
      blocks_(blocks),
      outgoing_(padded_bytes(blocks, size_, dtype), "gradients to send", kernels.memory),
      incoming_(outgoing_.bytes(), "received gradients", kernels.memory) {
  if (stream == nullptr) return;
  // Sums allocate memory on first use: fail here rather than in a step, while other ranks wait.
  const std::int64_t elements = outgoing_.bytes() / static_cast<std::int64_t>(size_of(dtype));
  stream->enqueue([&] {
    elementwise_.column_sums({incoming_.data(), size_, elements / size_, dtype},
                             {outgoing_.data(), 1, elements / size_, dtype}, false);
  });
  stream->finish();
}

/// The bucket as one part of equal length for each rank: the row's own memory where that fits.
View BucketExchange::padded(View row, BlockRange bucket) {
  const View own = blocks_in(row, bucket);
  const std::int64_t elements = shard_blocks(bucket, size_) * size_ * kBlock;
  if (own.elements() == elements) return own;
  const View whole{outgoing_.data(), 1, elements, dtype_};
  elementwise_.copy(own, part_of(whole, 0, own.elements()), false);
  return whole;
}

/// Copies blocks of a padded bucket back to their row.
void BucketExchange::unpad(View from, View row, BlockRange blocks, BlockRange bucket) {
  const View to = blocks_in(row, blocks);
  const View own = part_of(from, (blocks.first - bucket.first) * kBlock, to.elements());
  if (own.data != to.data && to.elements() > 0) elementwise_.copy(own, to, false);
}

void BucketExchange::sum_shard(View parts) {
  const View sum = part(parts, rank_);
  const std::int64_t elements = sum.elements();
  const auto count = static_cast<std::size_t>(elements);
  if (order_ == SumOrder::library) {
    const View received{incoming_.data(), 1, elements, dtype_};
    collectives_.run(CollectiveOp::reduce_scatter, parts.data, received.data, count, dtype_);
    return elementwise_.copy(received, sum, false);
  }
  const View received{incoming_.data(), size_, elements, dtype_};  // a row from each rank
  collectives_.run(CollectiveOp::all_to_all, parts.data, received.data, count, dtype_);
  elementwise_.column_sums(received, sum, false);
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

void BucketExchange::all_reduce_row(View row) {
  for (std::int64_t first = 0; first < blocks_of(row); first += blocks_)
    all_reduce(row, {first, std::min(first + blocks_, blocks_of(row))});
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

}  // namespace bench::training
