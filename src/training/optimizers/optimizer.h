// Parameter updates, and the learning rate by step. An optimizer keeps state for each parameter and
// can update any range separately: lanes split the work, ranks may shard it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench::training {

/// The learning rate by step: warm-up, then one shape over a fixed horizon. It never depends on the
/// progress of the training, so that time to a target is a fair measure.
struct Schedule {
  enum class Shape {
    constant,
    linear,       // down to `floor` over the whole horizon after warm-up
    cosine,       // the same, as half a cosine
    linear_last,  // constant, then linear down to `floor` over the last `last` of the horizon
  };
  Shape shape = Shape::constant;
  double peak = 1e-3;
  std::int64_t warmup = 0;   // steps; step w of them has the share (w + 1) / warmup of the rate
  std::int64_t horizon = 0;  // steps in all
  double floor = 0.0;        // share of the peak
  double last = 0.5;         // share of the horizon, of linear_last

  /// Of step 0, 1, ...; beyond the horizon that of its end.
  double rate(std::int64_t step) const;
};

/// A part of one parameter.
struct UpdateRange {
  std::int64_t first = 0;  // element of the optimizer's state
  bool decay = true;
  View parameters, gradients;  // one row each
  bool divided = false;        // the parameter is a part of one that is divided over tensor ranks
};

struct UpdateScalars {
  double rate = 0.0;            // learning rate, by the schedule
  double gradient_scale = 1.0;  // of clipping
  std::int64_t step = 1;        // from 1
};

/// Some neighbouring parameters around an update, on the host: for a check of its learning rate.
struct UpdateSample {
  std::vector<double> before = {};              // f32 masters if there are any
  std::vector<std::vector<double>> state = {};  // after it, as state() without masters
  bool decay = true;
  std::int64_t step = 1;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::string name() const = 0;
  /// Once, before the first update: allocates state for `elements` parameters of `dtype` in
  /// `memory`, of type accumulator_of(dtype), zero at first.
  virtual void prepare(std::int64_t elements, Dtype dtype,
                       std::shared_ptr<Memory> memory = host_memory()) = 0;
  /// Before the ranges of one step are updated.
  virtual void begin_step(const UpdateScalars& scalars) = 0;
  /// Makes the same kernel calls in each step except the first, which sets master weights.
  virtual void update(const KernelSet& kernels, const UpdateRange& range) const = 0;
  virtual std::int64_t state_bytes() const = 0;
  /// What prepare() would allocate.
  virtual std::int64_t state_bytes(std::int64_t elements, Dtype dtype) const = 0;
  /// All state except the number of steps, for checkpoints; valid after prepare().
  virtual std::vector<NamedView> state() const = 0;
  /// What an update at a learning rate of 1 subtracts from each of these parameters; empty if this
  /// cannot be determined from the state.
  virtual std::vector<double> direction(const UpdateSample& /*sample*/) const { return {}; }
};

/// One number of state for each element of the parameters' arena.
class StateArray {
 public:
  StateArray() = default;
  StateArray(std::int64_t elements, Dtype dtype, const char* purpose,
             std::shared_ptr<Memory> memory)
      : block_(elements * static_cast<std::int64_t>(size_of(dtype)), purpose, std::move(memory)),
        dtype_(dtype) {}
  explicit operator bool() const { return block_.bytes() > 0; }
  /// A view without data if the array is empty.
  View range(std::int64_t first, std::int64_t count) const {
    if (!*this) return {};
    return {block_.data() + first * static_cast<std::int64_t>(size_of(dtype_)), 1, count, dtype_};
  }
  View all() const { return range(0, block_.bytes() / static_cast<std::int64_t>(size_of(dtype_))); }
  std::int64_t bytes() const { return block_.bytes(); }

 private:
  MemoryBlock block_;
  Dtype dtype_ = Dtype::f32;
};

/// The numbers of a step, in the tensors' memory.
class StepBlock {
 public:
  StepBlock() = default;
  explicit StepBlock(std::shared_ptr<Memory> memory)
      : block_(sizeof(StepNumbers), "update scalars", memory), memory_(std::move(memory)) {}
  void set(const StepNumbers& numbers, std::int64_t step) {
    memory_->upload(&numbers, block_.data(), block_.bytes());
    first_ = step == 1;
  }
  const StepNumbers* numbers() const { return reinterpret_cast<const StepNumbers*>(block_.data()); }
  /// Whether this is the first update.
  bool first() const { return first_; }

 private:
  MemoryBlock block_;
  std::shared_ptr<Memory> memory_;
  bool first_ = true;
};

struct AdamwOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.0;
};
/// Adam with decoupled weight decay (arXiv 1711.05101), bias-corrected.
std::unique_ptr<Optimizer> make_adamw(const AdamwOptions& options);

struct SgdOptions {
  double momentum = 0.9;
  double decay = 0.0;  // added to the gradient
};
/// Stochastic gradient descent with momentum, as ResNets are trained: no Nesterov step, no
/// dampening.
std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options);

}  // namespace bench::training
