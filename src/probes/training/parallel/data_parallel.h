// One model trained by all ranks of a group: each computes the gradient of its part of the batch,
// the parts are summed, and every rank makes the same update. The samples of a step are numbered
// step x batch ... ; rank r takes the r-th contiguous part of them, and its micro-batches are
// contiguous parts of that.
#pragma once

#include <cstdint>
#include <functional>

#include "probes/group.h"
#include "probes/training/engine/replica.h"

namespace bench::training {

struct DataParallelOptions {
  std::int64_t bucket_bytes = 25'000'000;  // of gradients exchanged at once
  bool shard_optimizer = false;            // ZeRO-1: each rank updates its part of the parameters
  bool overlap = true;                     // exchange while the backward pass goes on
};

struct StepOutcome {
  double loss = 0.0;            // mean over the rows of the whole batch
  double gradient_norm = 0.0;   // of its gradient, before clipping
  double gradient_scale = 1.0;  // by which clipping shortened it
  /// This rank's, and of its lanes the mean.
  Seconds data, forward, backward;
  Seconds exchange_exposed;  // when nothing else went on, waiting for late ranks included
  Seconds exchange_hidden;   // beside the backward pass
  Seconds optimizer;         // norm, clipping, update
  Seconds total;
};

class DataParallel {
 public:
  /// Both must outlive this. A group of several ranks must have collectives.
  DataParallel(Replica& replica, Group& group, const DataParallelOptions& options = {});

  /// One step on the batch that `fill` writes; every rank calls it. `after_backward` is
  /// Replica::Hooks'. Loss and norm are those of the whole batch, equal on all ranks. Throws
  /// Error(internal) where they are not finite, on all ranks.
  StepOutcome step(const Replica::Fill& fill, double rate, double clip = 0.0,
                   const std::function<void(const Lane&, int)>& after_backward = {});

  Replica& replica() { return replica_; }
  Group& group() { return group_; }

 private:
  Replica& replica_;
  Group& group_;
  DataParallelOptions options_;
};

}  // namespace bench::training
