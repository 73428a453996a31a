// A plan with memory under it: one thread's (or stream's) inputs, activations and gradients. Lanes
// of a rank share its weights and work on different micro-batches. Its memory is where the weights
// lie; what a source writes and what is read from outside lies in host memory in any case.
#pragma once

#include <map>

#include "probes/training/engine/weights.h"

namespace bench::training {

class Lane {
 public:
  /// `plan` and `weights` must outlive the lane.
  Lane(const Plan& plan, const Weights& weights, const KernelFactory& kernels);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// In host memory: where a source writes an input, to be asked for each time it does; or a result
  /// as it was when this was called, to be read after forward().
  View view(Var var) const;
  /// Of a parameter, or an input made to have one, after backward(); where it lies, which may be on
  /// a device.
  View gradient(Var var) const;
  /// All gradients as one row, padding (zeros) included; where they lie.
  View gradients() const;
  Memory& memory() const { return *weights_.memory(); }
  const KernelSet& kernels() const { return kernels_; }

  /// Brings what sources have written to where the kernels read it; forward() does where this was
  /// not called after they wrote.
  void upload();
  void forward(const StepScalars& scalars) { run(0, plan_.backward_begin, scalars); }
  /// The sum of a loss's result, after forward(): for many micro-batches without waiting for each.
  void add_up(Var losses, bool add);
  /// What add_up() has added since it last did not add.
  double sum_of_losses() const;
  void backward(const StepScalars& scalars) {
    run(plan_.backward_begin, static_cast<int>(plan_.actions.size()), scalars);
  }
  /// Actions first to last - 1 of the plan: for who wants to do something in between.
  void run(int first, int last, const StepScalars& scalars);

 private:
  View resolve(const Slot& slot) const;
  void work(int first, int last);
  Frame frame_of(const Action& action) const;

  const Plan& plan_;
  const Weights& weights_;
  KernelSet kernels_;
  MemoryBlock inputs_, transient_, gradients_, loss_sum_;
  MemoryBlock staging_ = {};                               // of inputs, for a device
  bool uploaded_ = false;                                  // for the next forward()
  mutable std::map<std::int64_t, MemoryBlock> seen_ = {};  // results, by buffer, from a device
  StepScalars scalars_;
  std::vector<Frame> frames_;
};

}  // namespace bench::training
