// How much memory a training will take, from its plans alone: before anything is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "training/parallel/gradient_exchange.h"
#include "training/trainer/batch_split.h"
#include "training/trainer/training_run.h"
#include "training/workloads/workload.h"

namespace bench::training {

struct MemoryNeed {
  /// Of one rank, with the labels and bytes of TrainingRun::memory, as far as plans have them:
  /// without embedding tables, the buffers in which powersgd sums factors, and those of libraries.
  std::vector<MemoryUse> uses = {};
  std::int64_t total() const;
  /// The label that takes most.
  const MemoryUse& largest() const;
};

/// How the ranks of a training share it.
struct RankSharing {
  ModelPart part = {};             // of a divided model, the part whose rank is asked for
  PipelineSchedule schedule = {};  // by which its stages take turns
  DataParallelOptions exchange = {};
};

/// Of the rank that has the largest share of a sharded optimizer.
MemoryNeed memory_need(const Workload& workload, const BatchSplit& split, Dtype dtype,
                       bool recompute, const RankSharing& sharing = {});

/// The most samples that each lane can process at once within `bytes` of a rank, a multiple of 8
/// above 16; 0 if one is too many. Of whole models, over so many ranks.
std::int64_t largest_micro_batch(const Workload& workload, int lanes, Dtype dtype, bool recompute,
                                 double bytes, const DataParallelOptions& exchange = {},
                                 int ranks = 1);

}  // namespace bench::training
