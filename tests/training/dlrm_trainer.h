// Training of dlrm on one rank of a group, by the workload's own recipe, for tests: what the
// trainer of the probe does, without its clock and records.
#pragma once

#include <memory>

#include "probes/training/engine/replica.h"
#include "probes/training/tables/sparse_tables.h"
#include "probes/training/workloads/workload.h"

namespace bench::training {

struct DlrmTrainerOptions {
  int lanes = 2;
  int micro_batches = 1;   // of each lane in a step
  std::int64_t batch = 0;  // of all ranks; 0: the recipe's
  std::uint64_t seed = 1;
};

class DlrmTrainer {
 public:
  /// The workload and the group must outlive the trainer.
  DlrmTrainer(Workload& workload, Group& group, const DlrmTrainerOptions& options);

  /// The global batch's loss. The rate is the schedule's.
  Replica::Step step();
  Quality evaluate(std::int64_t samples);
  Replica& replica() { return *replica_; }
  SparseTables& tables() { return *workload_.tables(); }
  const Model& model() const { return model_; }

 private:
  void sum_over_ranks();

  Workload& workload_;
  Group& group_;
  std::int64_t batch_, each_;  // samples of a step, of a micro-batch
  Model model_;
  Plan plan_, evaluation_plan_;
  std::unique_ptr<Replica> replica_;
  std::vector<std::unique_ptr<Lane>> evaluators_ = {};
};

}  // namespace bench::training
