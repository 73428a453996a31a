// Sums the lanes' gradients bucket by bucket during the backward pass. Each lane reports which
// buckets are final; once a bucket is final in all lanes, the next free lane sums its blocks. A block is summed in the order of lanes, so no bit depends on who does it.
#pragma once

#include <atomic>
#include <vector>

#include "probes/training/engine/replica.h"
#include "probes/training/parallel/buckets.h"

namespace bench::training {

class LaneSum {
 public:
  LaneSum(Replica& replica, std::vector<Bucket> buckets);

  /// Before each step, when no lane runs.
  void begin();
  /// Call in a lane's thread, for one bucket after the other. The last call returns when all buckets
  /// are summed.
  void bucket_ready(int lane, int bucket);
  /// Releases all waiters until begin(): a lane has failed.
  void fail();
  /// Until this bucket is summed.
  void wait(std::size_t bucket) const;

 private:
  struct State {
    std::atomic<int> lanes{0};          // lanes in which it is not final yet
    std::atomic<std::int64_t> next{0};  // next free block, from the bucket's first
    std::atomic<std::int64_t> left{0};  // blocks not summed yet
  };
  void sum_final_buckets(int lane);

  Replica& replica_;
  std::vector<Bucket> buckets_;
  std::vector<State> states_;
};

}  // namespace bench::training
