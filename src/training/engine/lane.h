// A plan with its memory: the inputs, activations and gradients of one thread or stream. Lanes of a
// rank share its weights and process different micro-batches. Memory is on the weights' device;
// inputs written by a source and results read from outside are always in host memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "training/engine/plan.h"
#include "training/engine/timeline.h"
#include "training/kernels/memory.h"

namespace bench::training {

/// The parameters and constants of one rank, shared by its lanes and by the plans of training and
/// evaluation.
class Weights {
 public:
  /// With the graph's initial values for `seed`, in `memory`.
  Weights(const Plan& plan, std::uint64_t seed, std::shared_ptr<Memory> memory = host_memory());

  /// A parameter or constant. `plan` may also be of another graph with equal parameters; throws
  /// Error(internal) if their arenas differ.
  View view(const Plan& plan, int tensor) const {
    return view(plan, plan.values[static_cast<std::size_t>(tensor)]);
  }
  View view(const Plan& plan, const Slot& slot) const;
  /// All parameters as one row, padding included.
  View all() const;
  /// These weights if they are in host memory, else a copy in host memory.
  Weights on_host() const;
  /// The memory of these views.
  const std::shared_ptr<Memory>& memory() const { return memory_; }

 private:
  std::shared_ptr<Memory> memory_;
  MemoryBlock parameters_;
  MemoryBlock constants_;
  Dtype dtype_;
};

class Lane {
 public:
  /// `plan` and `weights` must outlive the lane. `same_gradients`: a lane in the same thread whose
  /// gradients and losses this one adds to.
  Lane(const Plan& plan, const Weights& weights, const KernelFactory& kernels,
       const Lane* same_gradients = nullptr);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// In host memory: the buffer to which a source writes an input, valid for one write; or a copy
  /// of a result, after forward().
  View view(Var var) const;
  /// The gradient of a parameter, or of an input created with one, after backward(); possibly in
  /// device memory.
  View gradient(Var var) const;
  /// A tensor in the lane's own memory, which is the device's.
  View tensor(Var var) const { return resolve(plan_.values[static_cast<std::size_t>(var.id)]); }
  /// All gradients as one row, padding (zeros) included; possibly in device memory.
  View gradients() const;
  Memory& memory() const { return *weights_.memory(); }
  const KernelSet& kernels() const { return kernels_; }
  /// Of the buffers, shared by all lanes, of exchanges with other ranks within passes.
  std::int64_t exchange_bytes() const {
    return (kernels_.ranks ? kernels_.ranks->bytes() : 0) +
           (kernels_.copies ? kernels_.copies->bytes() : 0);
  }

  /// Copies inputs to the device; forward() does this unless it was called after the last write.
  void upload();
  void forward(const StepScalars& scalars) { run(0, plan_.backward_begin, scalars); }
  /// Adds up a loss after forward(), for many micro-batches without waiting for each.
  void add_up(Var losses, bool add);
  /// The sum since the last add_up() with add false.
  double sum_of_losses() const;
  void backward(const StepScalars& scalars) {
    run(plan_.backward_begin, static_cast<int>(plan_.actions.size()), scalars);
  }
  /// Records each operation from now on; null: none. Of lanes on a host.
  void record(Timeline* timeline) { timeline_ = timeline; }
  Timeline* timeline() const { return timeline_; }
  /// Runs actions first to last - 1 of the plan, for callers that do something in between.
  void run(int first, int last, const StepScalars& scalars);

 private:
  View resolve(const Slot& slot) const;
  void work(int first, int last);
  void work(std::size_t action);
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
  Timeline* timeline_ = nullptr;
};

}  // namespace bench::training
