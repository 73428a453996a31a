// Sums the lanes' gradients bucket by bucket while the backward pass goes on. Each lane tells which
// buckets are final in it; once they are so in all lanes, whichever lane comes by next sums blocks
// of them. A block is summed in the order of lanes, so no bit depends on who does it.
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
  /// In a lane's thread, for one bucket after the other. With the last one it stays until all are
  /// summed.
  void bucket_ready(int lane, int bucket);
  /// Ends all waiting, now and until begin(): a lane will never come.
  void fail();
  /// Until this bucket is summed.
  void wait(std::size_t bucket) const;

 private:
  struct State {
    std::atomic<int> lanes{0};          // in which it is not final yet
    std::atomic<std::int64_t> next{0};  // block, from the bucket's first, that nobody took yet
    std::atomic<std::int64_t> left{0};  // blocks that are not summed
  };
  void sum_final_buckets(int lane);

  Replica& replica_;
  std::vector<Bucket> buckets_;
  std::vector<State> states_;
};

}  // namespace bench::training
