#include "probes/training/parallel/lane_sum.h"

#include <utility>

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
  if (static_cast<std::size_t>(bucket) + 1 == states_.size()) wait_for_zero(state.lanes);
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

}  // namespace bench::training
