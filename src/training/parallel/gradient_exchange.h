// Computes the gradient of the whole batch on every rank: forward and backward pass of this rank's
// part, overlapped with the exchange of buckets. On a host the calling thread communicates, because
// the library may allow no other, and the lanes run in other threads. On a device the one lane
// enqueues each bucket's exchange right after the kernels that complete the bucket.
#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "devices/group.h"
#include "training/engine/replica.h"
#include "training/parallel/bucket_exchange.h"
#include "training/parallel/error_feedback.h"
#include "training/parallel/exchange_method.h"
#include "training/parallel/expert_exchange.h"

namespace bench::training {

/// Sums the lanes' gradients bucket by bucket during the backward pass. Each lane reports which
/// buckets are final; once a bucket is final in all lanes, the next free lane sums its blocks. A
/// block is summed in the order of lanes, so the bits do not depend on which lane sums it.
class LaneSum {
 public:
  LaneSum(Replica& replica, std::vector<Bucket> buckets);

  /// Before each step, when no lane runs.
  void begin();
  /// Call in a lane's thread, for each bucket in order. The last call returns when all buckets are
  /// summed.
  void bucket_ready(int lane, int bucket);
  /// Releases all waiters until begin(): a lane has failed.
  void fail();
  /// Waits until this bucket is summed.
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

class ModelRanks;

struct DataParallelOptions {
  std::int64_t bucket_bytes = 25'000'000;  // of gradients exchanged at once
  bool shard_optimizer = false;  // ZeRO-1: each rank updates only its part of the parameters and
                                 // receives only that part of the gradient sum
  bool overlap = true;  // exchange during the backward pass, if the library lets other threads
                        // compute meanwhile
  SumOrder order = SumOrder::ranks;
  ExchangeStream* stream = nullptr;   // of the device that trains; null on a host
  const ModelRanks* model = nullptr;  // of models divided over ranks; null: every rank has a whole
  /// Of several ranks with whole models in host memory, all in f32 or f64, if it is not full. A
  /// compressed exchange follows the backward pass, without overlap; shard_optimizer must be off.
  ExchangeMethod method = {};
  /// Folder for a file with the optimizer's state, on hosts; empty: the state is in memory.
  std::filesystem::path offload = {};
};

/// The blocks whose gradient sum a rank holds: all, or if the optimizer is sharded its part of each
/// bucket.
std::vector<BlockRange> owned_blocks(const std::vector<Bucket>& buckets, int rank, int ranks,
                                     bool shard_optimizer);
/// GradientExchange::bytes() over so many ranks with the same parameters, before there is one.
/// `part`: of the model, if it is divided. Without the buffers in which factors are summed.
std::int64_t exchange_bytes(const Plan& plan, const ModelPart& part, int ranks,
                            const DataParallelOptions& options, int lanes);

class GradientExchange {
 public:
  GradientExchange(Replica& replica, Group& group, const DataParallelOptions& options);

  /// Leaves the sum over all ranks in replica.gradients(): in owned() at least; with local steps
  /// the gradient of this rank's samples alone. If this rank's lanes throw, it still takes part in
  /// the exchange, so that no other rank hangs, and returns the exception. Ranks that divide
  /// experts do not: the job must end.
  std::exception_ptr forward_backward(const Replica::Fill& fill, Replica::Hooks hooks = {});
  /// Gathers the parameter shards of all ranks on every rank.
  void gather_parameters();

  /// The blocks whose gradient sum this rank holds: all, or its shards.
  const std::vector<BlockRange>& owned() const { return owned_; }
  /// Whether the optimizer is sharded.
  bool shards() const { return options_.shard_optimizer && group_.size() > 1; }
  bool overlaps() const {
    return lane_sum_.has_value() || (exchange_ && stream() && options_.overlap);
  }
  std::int64_t bytes() const {
    if (experts_) return experts_->bytes();
    return exchange_ ? exchange_->bytes() : feedback_ ? feedback_->bytes() : 0;
  }
  /// Null unless the exchange is compressed.
  const ErrorFeedback* feedback() const { return feedback_.get(); }

  /// Of the last forward_backward().
  struct Times {
    Seconds compute;       // the lanes, and summing them
    Seconds lane_sum;      // of that, summing when it was not part of the backward pass
    Seconds communicated;  // exchanging buckets, including waiting for late ranks
    Seconds exposed;       // after the lanes finished, without `compressed`
    Seconds compressed;    // choosing what to send, and restoring what was received
    Seconds hidden() const { return communicated > exposed ? communicated - exposed : Seconds{}; }
  };
  const Times& times() const { return times_; }

 private:
  std::exception_ptr compute(const Replica::Fill& fill, const Replica::Hooks& hooks);
  void exchange(BlockRange bucket);
  void exchange_after_backward();
  std::exception_ptr exchange_overlapped(const Replica::Fill& fill, Replica::Hooks& hooks);
  std::exception_ptr exchange_on_stream(const Replica::Fill& fill, Replica::Hooks& hooks);
  ExchangeStream* stream() const { return options_.stream; }

  Replica& replica_;
  Group& group_;
  DataParallelOptions options_;
  std::vector<Bucket> buckets_;
  std::vector<BlockRange> owned_ = {};
  std::optional<BucketExchange> exchange_ = {};   // of several ranks
  std::optional<ExpertExchange> experts_ = {};    // instead, of ranks that divide experts
  std::optional<LaneSum> lane_sum_ = {};          // if lanes run during the exchange
  std::unique_ptr<ErrorFeedback> feedback_ = {};  // of several ranks, if they compress
  Times times_ = {};
};

}  // namespace bench::training
