// Trains a workload to its target: the loop for every workload, device and number of ranks. The
// clock is MLPerf's: it starts at the first access to training data and includes evaluation;
// tables, plans and initial weights are initialization. The schedule is fixed; a run ends at the
// first evaluation that meets the target, or at its horizon.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "training/checkpoint/checkpoints.h"
#include "training/engine/replica.h"
#include "training/parallel/data_parallel.h"
#include "training/parallel/model_ranks.h"
#include "training/trainer/evaluator.h"
#include "training/trainer/run_checks.h"
#include "training/trainer/step_profile.h"
#include "training/trainer/training_run.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// Receives the events of a run as they happen, for MLPerf's log and to judge the conditions of
/// steps. Called on every rank.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void run_start() {}
  /// Training between two evaluations, in samples trained on before it.
  virtual void block_start(std::int64_t) {}
  virtual void block_stop(std::int64_t) {}
  /// Outside of its time.
  virtual void step_start() {}
  virtual void step_stop() {}
  /// The last of run.steps, outside of its time; `step`: its number, counted from 0.
  virtual void step_recorded(const TrainingRun& /*run*/, std::int64_t /*step*/,
                             const StepOutcome& /*outcome*/) {}
  virtual void evaluation_start(std::int64_t) {}
  virtual void evaluation_stop(std::int64_t, const Quality&) {}
  virtual void run_stop(std::int64_t, bool /*converged*/) {}
};

struct Pretrained;

struct TrainerOptions {
  Recipe recipe = {};  // the workload's, possibly changed
  int lanes = 0;       // of each rank; 0: chosen by split_batch()
  int cores = 1;
  Dtype dtype = Dtype::f32;
  std::uint64_t seed = 1;          // of initial weights
  std::int64_t steps = 0;          // train this many without evaluation; 0: to the target
  std::int64_t check_every = 100;  // steps
  bool recompute = false;
  bool profile = false;  // every other of the first steps, on hosts only
  ModelSplit split = {};
  /// What a rank may use, once training has ended, to compare a divided model with the whole one.
  double check_bytes = 1 << 30;
  DataParallelOptions parallel = {};
  std::filesystem::path checkpoint = {};  // folder; empty: no checkpoints
  std::int64_t checkpoint_every = 500;    // steps
  bool resume = false;                    // resume from the newest checkpoint, if there is one
  /// When a device trains, embedding tables stay in host memory: the host kernels, and how many
  /// threads use them (0: one per allowed CPU, at most 16, because the ranks of a host's GPUs share
  /// them). When the lanes are on the host, tables use the lanes' threads.
  KernelFactory host_kernels = {};
  int host_threads = 0;
  /// Values of the parameters that a base has (trainer/pretraining.h); null: initial values, which
  /// suffice to measure throughput. Must outlive the trainer's constructor.
  const Pretrained* base = nullptr;
  Seconds begun = {};  // start of the initialisation, by host_clock.h; 0: that of the trainer
};

/// How a step's samples are split over this many ranks. A part of a model trains in one thread.
BatchSplit split_batch(const TrainerOptions& options, int ranks);

/// The recipe with micro-batches small enough for four per stage of a pipeline.
Recipe for_pipeline(Recipe recipe, const ModelSplit& split, int ranks);

/// The recipe for another batch size: horizon, warm-up and evaluation interval keep their samples;
/// learning rates stay the same.
Recipe with_batch(Recipe recipe, std::int64_t batch);

class Trainer {
 public:
  /// All arguments must outlive the trainer. Throws Error(input) for a batch that cannot be split
  /// (split_batch), for a model that cannot be divided as the options say, for ranks that cannot
  /// exchange so (exchange_rules.h), and for intervals of evaluations or checkpoints that are not
  /// multiples of the period of local steps.
  Trainer(Workload& workload, const TrainerOptions& options, const KernelFactory& kernels,
          Group& group);

  /// Call once. Throws Error(internal) if loss or gradient is not a number.
  TrainingRun run(RunObserver& observer);

  const BatchSplit& split() const { return split_; }
  const ModelRanks& ranks() const { return ranks_; }
  const Model& model() const { return model_; }
  const Plan& plan() const { return plan_; }
  Replica& replica() { return *replica_; }
  std::string optimizer_name() const { return optimizer_name_; }
  /// Of the model and its tables, over all ranks.
  std::int64_t parameter_count() const;
  /// Whether the gradient exchange overlaps with the backward pass.
  bool exchange_overlaps() const { return parallel_->overlaps(); }
  /// Threads per rank that look up embedding rows; 0 without tables.
  int table_threads() const;

 private:
  void join_tables(SparseTables& tables, const KernelFactory& kernels);
  void check_messages() const;
  bool is_training() const { return done_ < last_step_ && !run_.converged; }
  bool block_ends() const;
  bool save_is_due() const { return checkpoints_ && done_ % options_.checkpoint_every == 0; }
  void train_block(RunObserver& observer);
  void train_step(RunObserver& observer);
  void record_step(const StepOutcome& step, double rate);
  void average_parameters(StepOutcome& step);
  void run_checks();
  /// Returns the gradient norm averages of a resumed run.
  std::optional<GradientOutliers::Averages> prepare_checkpoints();
  void save();
  void evaluate(RunObserver& observer);
  void finish();
  std::vector<MemoryUse> memory() const;
  std::vector<MemoryUse> memory_of_fullest_rank() const;
  std::optional<Offload> offload_of_ranks() const;
  std::int64_t samples_done() const { return done_ * split_.batch; }

  Seconds started_;
  Workload& workload_;
  TrainerOptions options_;
  Group& group_;
  ModelRanks ranks_;
  KernelFactory kernels_;
  BatchSplit split_;
  Model model_;
  Plan plan_;
  std::string optimizer_name_ = {};
  std::unique_ptr<Replica> replica_ = {};
  std::unique_ptr<DataParallel> parallel_ = {};
  std::unique_ptr<WorkerPool> host_threads_ = {};  // if the lanes have none
  std::unique_ptr<Evaluator> evaluator_ = {};
  std::unique_ptr<RunChecks> checks_ = {};
  std::unique_ptr<Checkpoints> checkpoints_ = {};
  std::optional<StepProfiler> profiler_ = {};
  Breakdown breakdown_ = {};
  Seconds spread_;  // DataParallel's, of all steps
  TrainingRun run_ = {};
  Seconds begin_;    // run_start; of a resumed run, minus the time it had already trained
  Seconds elapsed_;  // before the run was resumed
  std::int64_t last_step_ = 0;
  std::int64_t done_ = 0;
  std::int64_t averaged_ = 0;  // steps done at the last average of local steps
};

}  // namespace bench::training
