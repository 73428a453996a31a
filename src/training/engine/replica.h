// One rank's copy of a model in training: weights, optimizer, and lanes that share the work of a
// step. The phases of a step are separate, so that ranks can exchange gradients in between and each
// phase can be timed:
//
//   forward_backward(fill) -> sum_lanes() -> [exchange gradients()] -> gradient_norm() -> update()
//
// DataParallel (parallel/) runs whole steps, on one rank or many.
//
// Results are bit-identical from run to run for a given number of lanes. Another number sums the
// lanes' gradients in another order and differs by rounding.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/units.h"
#include "training/engine/gradient_blocks.h"
#include "training/engine/lane.h"
#include "training/engine/pipeline.h"
#include "training/engine/state_file.h"
#include "training/engine/worker_pool.h"
#include "training/optimizers/loss_scale.h"
#include "training/optimizers/optimizer.h"

namespace bench::training {

struct ReplicaOptions {
  int lanes = 1;          // threads
  int micro_batches = 1;  // of each lane in a step
  std::uint64_t seed = 1;
  LossScaleOptions loss_scale = {};  // of gradients in f16
  /// Of a pipeline, in one thread: `lanes` is 1. No links: the model has no other stages.
  Stage stage = {};

  bool is_stage() const { return stage.links != nullptr; }
};

/// Callbacks of the lanes; each runs in its lane's thread.
struct LaneHooks {
  /// After the backward pass of a micro-batch, while its inputs and their gradients are valid.
  std::function<void(const Lane& lane, int number)> after_backward = {};
  /// Actions of the plan, ascending. In a lane's last micro-batch, reached(lane, i) is called after
  /// action milestones[i]; gradients that are final by then do not change again.
  std::vector<int> milestones = {};
  std::function<void(int lane, int milestone)> reached = {};
  /// A lane has thrown: it reaches no further milestone.
  std::function<void()> failed = {};
};

/// Updates first to last - 1.
struct ChunkRange {
  std::size_t first = 0, last = 0;
};

class Replica {
 public:
  /// Writes the inputs of micro-batch `number` (0 <= number < lanes x micro_batches) of the step;
  /// may be called by several threads at once.
  using Fill = std::function<void(const Lane& lane, int number)>;

  using Hooks = LaneHooks;

  /// `plan` (of training) must outlive the replica; `losses` is the loss's result.
  Replica(const Plan& plan, Var losses, const KernelFactory& kernels,
          std::unique_ptr<Optimizer> optimizer, const ReplicaOptions& options);

  /// All micro-batches, forward and backward; returns the mean loss over their rows. The gradient
  /// is that of the mean over `rows_in_all` rows of all ranks (0: of this rank), times
  /// loss_scale().
  double forward_backward(const Fill& fill, std::int64_t rows_in_all = 0, const Hooks& hooks = {});
  /// Sum of the losses of all rows.
  double loss_sum() const;
  /// Sums the lanes' gradients.
  void sum_lanes();
  /// Sums block `index`, in one thread, with the kernels of lane `lane`.
  void sum_lanes(int lane, std::int64_t index);
  /// The summed gradient as a row over all trainable parameters, possibly in device memory, with
  /// the same offsets as in weights().all(), in the order in which gradients become final.
  View gradients() const { return lanes_.front()->gradients(); }
  /// sqrt of the sum of squares, summed in the same order for any number of lanes; without
  /// loss_scale().
  double gradient_norm();
  /// The sums of squares of these blocks of gradients(), by block; 0 for all others.
  std::vector<double>& square_sums(const std::vector<BlockRange>& blocks);

  /// Of each of updates(): the sum of squares of its gradients, and whether its parameter is
  /// divided over tensor ranks.
  struct UpdateSquares {
    double sum = 0.0;
    bool divided = false;
  };
  std::vector<UpdateSquares> square_sums_of_updates() const;

  /// Keeps the optimizer state in a file in this folder instead of memory (state_file.h), on hosts.
  /// Before own(). Parameters get the same bits.
  void keep_state_in(const std::filesystem::path& folder) { state_folder_ = folder; }
  /// Restricts update() and the optimizer state, which starts at zero, to these blocks. By default
  /// a replica owns all blocks.
  void own(const std::vector<BlockRange>& blocks);
  /// The ranges that update() covers, with the offsets of their state; valid after the first
  /// update.
  const std::vector<UpdateRange>& updates() const { return chunks_; }
  /// One step of the optimizer at this learning rate, gradients times `gradient_scale`.
  void update(double rate, double gradient_scale);

  struct Step {
    double loss = 0.0;
    double gradient_norm = 0.0;   // before clipping, without loss_scale()
    double gradient_scale = 0.0;  // by which the update multiplied gradients
    bool skipped = false;         // the gradient overflowed: parameters are unchanged
  };
  /// A step of a single replica; clips gradients longer than `clip` (0: no clipping). Throws
  /// Error(internal) if loss or norm is not finite.
  Step step(const Fill& fill, double rate, double clip = 0.0);
  /// The clipping factor for a gradient of this norm. Throws like step().
  double clip_scale(const Step& step, double clip) const;
  /// Ends a step whose loss and norm are known: clips and updates, or skips it.
  void finish(Step& step, double rate, double clip);
  LossScale& loss_scale() { return loss_scale_; }

  /// Of the last forward_backward(), mean over the lanes; after_backward() counts as backward.
  /// Exchanges with tensor ranks and with copies that share parameters, and waiting for other
  /// stages, are parts of no other time.
  struct Times {
    Seconds data, transfer, forward, backward;
    Seconds tensor_exchange, context_exchange, expert_exchange, shard_exchange, pipeline_wait;
    /// Of `data`, `forward` and `backward` the time on a processor, on hosts.
    Seconds data_processor, forward_processor, backward_processor;
  };
  Times times() const;
  /// Records from now on what the lanes and this rank do; null: nothing. `timelines` has one for
  /// each thread, and must outlive the recording. On hosts only.
  void record(StepTimelines* timelines);
  /// Of the rank's first thread; null: nothing is recorded.
  Timeline* timeline() { return timelines_ == nullptr ? nullptr : &timelines_->rank; }

  const Plan& plan() const { return plan_; }
  const Weights& weights() const { return weights_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  /// All of the optimizer's state, with the offsets of updates(). May be written before the first
  /// update.
  std::vector<NamedView> optimizer_state() const;
  /// So far, of updates for state in a file.
  Seconds state_wait() const { return state_file_ ? state_file_->traffic().waited : Seconds{}; }
  /// Before optimizer_state() is kept: that a file still has what was written. Throws
  /// Error(environment) if it has not.
  void verify_state() const {
    if (state_file_) state_file_->verify();
  }
  /// Null if the state is in memory.
  StateFile* state_file() const { return state_file_.get(); }
  /// For work on tensors outside the lanes; one thread at a time.
  const KernelSet& kernels() const { return kernels_; }
  WorkerPool& pool() { return pool_; }
  /// The memory in which thread `index` computed its last micro-batch.
  const Lane& lane(int index) const {
    const int of_stage = (options_.micro_batches - 1) % static_cast<int>(lanes_.size());
    return *lanes_[static_cast<std::size_t>(options_.is_stage() ? of_stage : index)];
  }
  int lanes() const { return options_.lanes; }
  int micro_batches() const { return options_.lanes * options_.micro_batches; }
  /// Rows of the loss in a step of this rank.
  std::int64_t rows() const { return losses_.shape().rows() * micro_batches(); }
  /// Skipped ones included.
  std::int64_t steps_done() const { return steps_; }
  std::int64_t updates_done() const { return steps_ - loss_scale_.skipped(); }
  /// Restores the step count from a checkpoint.
  void set_steps_done(std::int64_t steps) { steps_ = steps; }
  /// Most micro-batches of a thread that are kept at once.
  int micro_batches_kept() const {
    return options_.is_stage() ? static_cast<int>(lanes_.size()) : 1;
  }
  /// Of all lanes together.
  std::int64_t memory_bytes(Label label) const;
  /// Of exchanges within passes.
  std::int64_t exchange_bytes() const { return lanes_.front()->exchange_bytes(); }
  /// Of the optimizer's state in memory.
  std::int64_t optimizer_bytes() const { return optimizer_->state_bytes(); }

 private:
  void run_stage(const Fill& fill, double scale, const Hooks& hooks);
  void run_lane(int lane, const Fill& fill, double scale, const Hooks& hooks);
  void backward(int lane, const StepScalars& scalars, const Hooks& hooks);
  void make_chunks(const std::vector<BlockRange>& blocks);
  void join_chunks();
  void update_chunks(ChunkRange chunks, std::int64_t moved);
  void find_windows();

  const Plan& plan_;
  Var losses_;
  ReplicaOptions options_;
  KernelSet kernels_;
  Weights weights_;
  std::unique_ptr<Optimizer> optimizer_;
  WorkerPool pool_;
  std::vector<std::unique_ptr<Lane>> lanes_ = {};
  std::vector<Times> lane_times_ = {};
  StepTimelines* timelines_ = nullptr;
  bool owns_ = false;  // own() was called
  std::vector<UpdateRange> chunks_ = {};
  std::filesystem::path state_folder_ = {};  // empty: the optimizer's state is in memory
  std::unique_ptr<StateFile> state_file_ = {};
  std::vector<ChunkRange> windows_ = {};  // of the state file
  std::vector<double> squares_ = {};      // by block of gradients
  LossScale loss_scale_;
  std::int64_t steps_ = 0;
};

double root_of_sum(const std::vector<double>& squares);

}  // namespace bench::training
