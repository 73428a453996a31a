// One rank's copy of a model in training: weights, optimizer, and lanes that share the work of a
// step. The phases of a step are separate, so that ranks can exchange gradients in between and each
// can be timed:
//
//   forward_backward(fill) -> sum_lanes() -> [exchange gradients()] -> gradient_norm() -> update()
//
// Results are bit-equal from run to run for one number of lanes. Another number sums the lanes'
// gradients otherwise and differs by rounding.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "probes/training/engine/lane.h"
#include "probes/training/engine/worker_pool.h"
#include "probes/training/optimizers/optimizer.h"

namespace bench::training {

struct ReplicaOptions {
  int lanes = 1;          // threads
  int micro_batches = 1;  // of each lane in a step
  std::uint64_t seed = 1;
};

class Replica {
 public:
  /// Writes the inputs of micro-batch `number` (0 <= number < lanes x micro_batches) of the step;
  /// may be called by several threads at once.
  using Fill = std::function<void(const Lane& lane, int number)>;

  /// `plan` (of training) must outlive the replica; `losses` is the loss's result.
  Replica(const Plan& plan, Var losses, const KernelFactory& kernels,
          std::unique_ptr<Optimizer> optimizer, const ReplicaOptions& options);

  /// All micro-batches, forward and backward; returns the mean loss over their rows. The gradient
  /// is that of the mean over `rows_in_all` rows, of all ranks together (0: this rank's alone).
  double forward_backward(const Fill& fill, std::int64_t rows_in_all = 0);
  /// The lanes' gradients become one.
  void sum_lanes();
  /// That one, as a row over all parameters.
  View gradients() const { return lanes_.front()->gradients(); }
  /// sqrt of the sum of squares, summed in one order whatever the number of lanes.
  double gradient_norm();
  /// One step of the optimizer at this learning rate, gradients times `gradient_scale`.
  void update(double rate, double gradient_scale);

  struct Step {
    double loss = 0.0;
    double gradient_norm = 0.0;  // before clipping
  };
  /// All of the above; a gradient longer than `clip` (0: never) is made that long. Throws
  /// Error(internal) where loss or norm is not finite.
  Step step(const Fill& fill, double rate, double clip = 0.0);

  const Plan& plan() const { return plan_; }
  const Weights& weights() const { return weights_; }
  WorkerPool& pool() { return pool_; }
  const Lane& lane(int index) const { return *lanes_[static_cast<std::size_t>(index)]; }
  int micro_batches() const { return options_.lanes * options_.micro_batches; }
  std::int64_t steps_done() const { return steps_; }
  /// Of all lanes together.
  std::int64_t memory_bytes(Label label) const;
  std::int64_t optimizer_bytes() const { return optimizer_->state_bytes(); }

 private:
  void run_lane(int lane, const Fill& fill, double scale);
  void make_chunks();

  const Plan& plan_;
  Var losses_;
  ReplicaOptions options_;
  Weights weights_;
  std::unique_ptr<Optimizer> optimizer_;
  WorkerPool pool_;
  std::vector<std::unique_ptr<Lane>> lanes_ = {};
  std::vector<double> lane_losses_ = {};
  std::vector<UpdateRange> chunks_ = {};
  std::vector<double> squares_ = {};  // by block of gradients
  std::int64_t steps_ = 0;
};

}  // namespace bench::training
