#include "probes/training/parallel/gradient_exchange.h"

#include <algorithm>
#include <utility>

#include "probes/host_clock.h"

namespace bench::training {

GradientExchange::GradientExchange(Replica& replica, Group& group,
                                   const DataParallelOptions& options)
    : replica_(replica),
      group_(group),
      options_(options),
      buckets_(make_buckets(replica.plan(), options.bucket_bytes, group.size())) {
  const View row = replica.gradients();
  if (!shards())
    owned_ = {{0, blocks_of(row)}};
  else
    for (const Bucket& bucket : buckets_)
      owned_.push_back(shard_of(bucket.blocks, group.rank(), group.size()));
  if (group.size() == 1) return;
  std::int64_t most = 0;
  for (const Bucket& bucket : buckets_) most = std::max(most, bucket.blocks.size());
  exchange_.emplace(group, replica.kernels(), row.dtype, most, options.order);
  if (options.overlap && group.collectives()->overlap() != nullptr)
    lane_sum_.emplace(replica, buckets_);
}

std::exception_ptr GradientExchange::compute(const Replica::Fill& fill,
                                             const Replica::Hooks& hooks) try {
  replica_.forward_backward(fill, replica_.rows() * group_.size(), hooks);
  if (hooks.reached) return {};
  const Seconds begin = steady_now();
  replica_.sum_lanes();
  times_.lane_sum = steady_now() - begin;
  return {};
} catch (...) {
  return std::current_exception();
}

void GradientExchange::exchange(BlockRange bucket) {
  const Seconds begin = steady_now();
  if (options_.shard_optimizer)
    exchange_->reduce_scatter(replica_.gradients(), bucket);
  else
    exchange_->all_reduce(replica_.gradients(), bucket);
  times_.communicated += steady_now() - begin;
}

std::exception_ptr GradientExchange::forward_backward(const Replica::Fill& fill,
                                                      Replica::Hooks hooks) {
  times_ = {};
  std::exception_ptr thrown;
  const Seconds begin = steady_now();
  if (lane_sum_) {
    beside(fill, hooks, thrown);
  } else {
    thrown = compute(fill, hooks);
    times_.compute = steady_now() - begin;
    if (exchange_)
      for (const Bucket& bucket : buckets_) exchange(bucket.blocks);
  }
  times_.exposed = steady_now() - begin - times_.compute;
  return thrown;
}

void GradientExchange::beside(const Replica::Fill& fill, Replica::Hooks& hooks,
                              std::exception_ptr& thrown) {
  for (const Bucket& bucket : buckets_) hooks.milestones.push_back(bucket.action);
  hooks.reached = [this](int lane, int bucket) { lane_sum_->reached(lane, bucket); };
  hooks.failed = [this] { lane_sum_->fail(); };
  lane_sum_->begin();
  const Seconds begin = steady_now();
  const auto communicate = [&] {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      lane_sum_->wait(i);
      exchange(buckets_[i].blocks);
    }
  };
  group_.collectives()->overlap()->together(communicate, [&] {
    thrown = compute(fill, hooks);
    times_.compute = steady_now() - begin;
  });
}

void GradientExchange::gather_parameters() {
  if (!exchange_ || !options_.shard_optimizer) return;
  const View row = part_of(replica_.weights().all(), 0, replica_.gradients().elements());
  for (const Bucket& bucket : buckets_) exchange_->all_gather(row, bucket.blocks);
}

}  // namespace bench::training
