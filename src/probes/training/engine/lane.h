// A plan with memory under it: one thread's (or stream's) inputs, activations and gradients. Lanes
// of a rank share its weights and work on different micro-batches.
#pragma once

#include "probes/training/engine/weights.h"

namespace bench::training {

class Lane {
 public:
  /// `plan` and `weights` must outlive the lane.
  Lane(const Plan& plan, const Weights& weights, const KernelFactory& kernels);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Where a source writes an input, or a result is read after forward().
  View view(Var var) const;
  /// Of a parameter, or an input made to have one, after backward().
  View gradient(Var var) const;
  /// All gradients as one row, padding (zeros) included.
  View gradients() const;
  const KernelSet& kernels() const { return kernels_; }

  void forward(const StepScalars& scalars) { run(0, plan_.backward_begin, scalars); }
  void backward(const StepScalars& scalars) {
    run(plan_.backward_begin, static_cast<int>(plan_.actions.size()), scalars);
  }
  /// Actions first to last - 1 of the plan: for who wants to do something in between.
  void run(int first, int last, const StepScalars& scalars);

 private:
  View resolve(const Slot& slot) const;
  Frame frame_of(const Action& action) const;

  const Plan& plan_;
  const Weights& weights_;
  KernelSet kernels_;
  MemoryBlock inputs_, transient_, gradients_;
  StepScalars scalars_;
  std::vector<Frame> frames_;
};

}  // namespace bench::training
