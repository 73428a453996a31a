// What is checked of a training once its clock has stopped: its quality against the floor, tables
// and rollouts, and by another pass over the samples of the step that would come next what ranks
// exchange and how they divide the model.
#pragma once

#include <cstdint>

#include "training/parallel/data_parallel.h"
#include "training/parallel/model_ranks.h"
#include "training/trainer/batch_split.h"
#include "training/trainer/trainer.h"
#include "training/trainer/training_run.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// Of a trainer that has taken so many steps; all must outlive the checks.
struct TrainedParts {
  Workload& workload;
  const TrainerOptions& options;
  const ModelRanks& ranks;
  DataParallel& parallel;
  const Model& model;
  const BatchSplit& split;
  const KernelFactory& kernels;
  std::int64_t steps_done = 0;
};

class FinalChecks {
 public:
  explicit FinalChecks(const TrainedParts& of) : of_(of) {}
  /// Appends to run.checks, and sets run.not_compared. Call on every rank.
  void add_to(TrainingRun& run) const;

 private:
  TrainingCheck floor_check(const TrainingRun& run) const;
  TrainingCheck tables_check() const;
  TrainingCheck rollouts_check() const;
  TrainingCheck exchange_check() const;
  TrainingCheck average_check() const;
  void check_divided_model(TrainingRun& run) const;

  TrainedParts of_;
};

}  // namespace bench::training
