#include "training/parallel/gradient_exchange.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "devices/host_clock.h"
#include "training/parallel/compressor.h"
#include "training/parallel/local_sgd.h"
#include "training/parallel/model_ranks.h"

namespace bench::training {
namespace {

/// Sleeps until the count is zero.
template <class Count>
void wait_for_zero(const std::atomic<Count>& count) {
  for (Count left = count.load(std::memory_order_acquire); left > 0;
       left = count.load(std::memory_order_acquire))
    count.wait(left, std::memory_order_acquire);
}

template <class Count>
void count_down(std::atomic<Count>& count) {
  if (count.fetch_sub(1, std::memory_order_acq_rel) == 1) count.notify_all();
}

template <class Count>
void release(std::atomic<Count>& count) {
  count.store(0, std::memory_order_release);
  count.notify_all();
}

}  // namespace

LaneSum::LaneSum(Replica& replica, std::vector<Bucket> buckets)
    : replica_(replica), buckets_(std::move(buckets)), states_(buckets_.size()) {}

void LaneSum::begin() {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].lanes = replica_.lanes();
    states_[i].next = 0;
    states_[i].left = buckets_[i].blocks.size();
  }
}

void LaneSum::bucket_ready(int lane, int bucket) {
  State& state = states_[static_cast<std::size_t>(bucket)];
  count_down(state.lanes);
  Timeline* const timeline = replica_.lane(lane).timeline();
  if (static_cast<std::size_t>(bucket) + 1 == states_.size()) {
    const TimelineScope recorded(timeline, Activity::lane_wait);
    wait_for_zero(state.lanes);
  }
  const TimelineScope recorded(timeline, Activity::lane_sum);
  sum_final_buckets(lane);
}

void LaneSum::sum_final_buckets(int lane) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if (state.lanes.load(std::memory_order_acquire) > 0) return;
    const BlockRange blocks = buckets_[i].blocks;
    for (std::int64_t at = state.next++; at < blocks.size(); at = state.next++) {
      replica_.sum_lanes(lane, blocks.first + at);
      count_down(state.left);
    }
  }
}

void LaneSum::fail() {
  for (State& state : states_) {
    release(state.left);
    release(state.lanes);
  }
}

void LaneSum::wait(std::size_t bucket) const { wait_for_zero(states_[bucket].left); }

std::vector<BlockRange> owned_blocks(const std::vector<Bucket>& buckets, int rank, int ranks,
                                     bool shard_optimizer) {
  if (!shard_optimizer) return {{0, buckets.empty() ? 0 : buckets.back().blocks.last}};
  std::vector<BlockRange> owned;
  for (const Bucket& bucket : buckets) owned.push_back(shard_of(bucket.blocks, rank, ranks));
  return owned;
}

std::int64_t exchange_bytes(const Plan& plan, const ModelPart& part, int ranks,
                            const DataParallelOptions& options, int lanes) {
  const Dtype dtype = plan.graph->compute();
  if (part.expert_ranks > 1)
    return ExpertExchange::bytes_for(plan, part.expert_ranks * ranks, ranks, options.bucket_bytes);
  if (ranks == 1) return 0;
  if (options.method.compresses())
    return compressor_bytes(options.method, row_tensors(plan), dtype, ranks, lanes);
  if (options.method.is_local()) return LocalSgd::bytes_for(plan, ranks, options.bucket_bytes);
  const std::vector<Bucket> buckets = make_buckets(plan, options.bucket_bytes, ranks);
  return BucketExchange::bytes_for(largest_bucket(buckets), ranks, dtype);
}

GradientExchange::GradientExchange(Replica& replica, Group& group,
                                   const DataParallelOptions& options)
    : replica_(replica),
      group_(group),
      options_(options),
      buckets_(make_buckets(replica.plan(), options.bucket_bytes, group.size())) {
  const View row = replica.gradients();
  owned_ = owned_blocks(buckets_, group.rank(), group.size(), shards());
  if (options.model != nullptr && options.model->part().expert_ranks > 1) {
    if (options.shard_optimizer)
      throw Error(ErrorKind::input,
                  "ranks that divide experts have different parameters, which a sharded optimizer "
                  "does not know",
                  "remove ep, or zero and shard_optimizer");
    experts_.emplace(replica.plan(), *options.model, replica.kernels(), options.bucket_bytes,
                     options.order);
    return;
  }
  if (group.size() == 1 || options.method.is_local()) return;
  if (options.method.compresses()) {
    feedback_ = std::make_unique<ErrorFeedback>(replica, group, options.method,
                                                options.bucket_bytes, options.order);
    return;
  }
  exchange_.emplace(group, replica.kernels(), stream(), row.dtype, largest_bucket(buckets_),
                    options.order);
  if (!stream() && options.overlap && group.collectives()->overlap() != nullptr)
    lane_sum_.emplace(replica, buckets_);
}

std::exception_ptr GradientExchange::compute(const Replica::Fill& fill,
                                             const Replica::Hooks& hooks) try {
  const int ranks = options_.model != nullptr    ? options_.model->data().size()
                    : options_.method.is_local() ? 1
                                                 : group_.size();
  replica_.forward_backward(fill, replica_.rows() * ranks, hooks);
  if (hooks.reached) return {};
  const Seconds begin = steady_now();
  const TimelineScope recorded(replica_.timeline(), Activity::lane_sum);
  replica_.sum_lanes();
  times_.lane_sum = steady_now() - begin;
  return {};
} catch (...) {
  return std::current_exception();
}

void GradientExchange::exchange(BlockRange bucket) {
  const TimelineScope recorded(replica_.timeline(), Activity::exchange);
  if (options_.shard_optimizer)
    exchange_->reduce_scatter(replica_.gradients(), bucket);
  else
    exchange_->all_reduce(replica_.gradients(), bucket);
}

std::exception_ptr GradientExchange::forward_backward(const Replica::Fill& fill,
                                                      Replica::Hooks hooks) {
  times_ = {};
  if (overlaps())
    for (const Bucket& bucket : buckets_) hooks.milestones.push_back(bucket.action);
  const Seconds begin = steady_now();
  std::exception_ptr thrown;
  if (lane_sum_) {
    thrown = exchange_overlapped(fill, hooks);
  } else if (exchange_ && stream()) {
    thrown = exchange_on_stream(fill, hooks);
  } else {
    thrown = compute(fill, hooks);
    times_.compute = steady_now() - begin;
    // The other ranks wait within their passes for one that throws.
    if (experts_ && thrown) return thrown;
    if (exchange_ || feedback_ || experts_) exchange_after_backward();
  }
  times_.exposed = steady_now() - begin - times_.compute - times_.compressed;
  return thrown;
}

void GradientExchange::exchange_after_backward() {
  const Seconds begin = steady_now();
  if (feedback_) {
    const TimelineScope recorded(replica_.timeline(), Activity::exchange);
    feedback_->exchange();
    times_.compressed = feedback_->compressed();
    times_.communicated = feedback_->communicated();
    return;
  }
  if (experts_) {
    const TimelineScope recorded(replica_.timeline(), Activity::exchange);
    experts_->all_reduce(replica_.gradients());
  } else {
    for (const Bucket& bucket : buckets_) exchange(bucket.blocks);
  }
  times_.communicated = steady_now() - begin;
}

std::exception_ptr GradientExchange::exchange_overlapped(const Replica::Fill& fill,
                                                         Replica::Hooks& hooks) {
  hooks.reached = [this](int lane, int bucket) { lane_sum_->bucket_ready(lane, bucket); };
  hooks.failed = [this] { lane_sum_->fail(); };
  lane_sum_->begin();
  std::exception_ptr thrown;
  const Seconds begin = steady_now();
  const auto communicate = [&] {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      lane_sum_->wait(i);
      const Seconds ready = steady_now();
      exchange(buckets_[i].blocks);
      times_.communicated += steady_now() - ready;
    }
  };
  group_.collectives()->overlap()->together(communicate, [&] {
    thrown = compute(fill, hooks);
    times_.compute = steady_now() - begin;
  });
  return thrown;
}

std::exception_ptr GradientExchange::exchange_on_stream(const Replica::Fill& fill,
                                                        Replica::Hooks& hooks) {
  std::size_t enqueued = 0;
  std::exception_ptr broken;  // the exchange itself failed: nothing more can be exchanged
  const auto enqueue_to = [&](std::size_t end) {
    try {
      while (enqueued < end) {
        const BlockRange blocks = buckets_[enqueued++].blocks;
        stream()->enqueue([this, blocks] { exchange(blocks); });
      }
    } catch (...) {
      broken = std::current_exception();
      throw;
    }
  };
  if (overlaps())
    hooks.reached = [&](int, int bucket) { enqueue_to(static_cast<std::size_t>(bucket) + 1); };
  const Seconds begin = steady_now();
  const std::exception_ptr thrown = compute(fill, hooks);
  times_.compute = steady_now() - begin;
  if (broken) std::rethrow_exception(broken);
  enqueue_to(buckets_.size());
  times_.communicated = stream()->finish();
  return thrown;
}

void GradientExchange::gather_parameters() {
  if (!exchange_ || !options_.shard_optimizer) return;
  const TimelineScope recorded(replica_.timeline(), Activity::exchange);
  const View row = part_of(replica_.weights().all(), 0, replica_.gradients().elements());
  const auto gather = [&] {
    for (const Bucket& bucket : buckets_) exchange_->all_gather(row, bucket.blocks);
  };
  if (!stream()) return gather();
  stream()->enqueue(gather);
  stream()->finish();
}

}  // namespace bench::training
