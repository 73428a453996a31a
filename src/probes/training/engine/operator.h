// One step of a model's computation: what it costs, what it must find again in the backward pass,
// and which kernels do it. An operator knows shapes, never addresses: those come with each Frame.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "probes/training/engine/shape.h"
#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

/// What changes from step to step.
struct StepScalars {
  double gradient_scale = 1.0;    // of the loss: one over what the loss is a mean of
  bool first_micro_batch = true;  // parameter gradients are written, later added to
};

/// Whether a gradient is the first contribution to its buffer.
enum class Adds { no, yes, after_first_micro_batch };

/// The views of one operator in one lane, made once and used every step. An absent view has no
/// data.
struct Frame {
  const KernelSet* kernels = nullptr;
  const StepScalars* scalars = nullptr;
  std::vector<View> inputs = {};
  View output = {};
  std::vector<View> saved = {};
  View workspace = {};
  View output_gradient = {};
  std::vector<View> input_gradients = {};
  std::vector<Adds> input_adds = {};
  bool training = true;

  bool adds(std::size_t input) const {
    return input_adds[input] == Adds::yes ||
           (input_adds[input] == Adds::after_first_micro_batch && !scalars->first_micro_batch);
  }
  /// Whether this input's gradient shares memory with the output's, so that nothing needs copying.
  bool shares_gradient(std::size_t input) const {
    return input_gradients[input].data == output_gradient.data;
  }
};

/// A tensor that forward writes in addition to its output, for backward.
struct Saved {
  Shape shape;
  bool statistic = true;  // in accumulator_of the type of the computation, else in that type
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::string_view name() const = 0;
  virtual void forward(const Frame& frame) const = 0;
  virtual void backward(const Frame& frame) const = 0;

  virtual bool backward_reads_input(std::size_t) const { return true; }
  virtual bool backward_reads_output() const { return false; }
  virtual std::vector<Saved> saved() const { return {}; }
  /// Elements, in accumulator_of the type of the computation, that backward needs for itself.
  virtual std::int64_t backward_workspace() const { return 0; }
  /// The input whose memory the output may reuse once no one reads it; -1: none.
  virtual int in_place() const { return -1; }
  /// The input whose gradient may take the memory of the output's gradient; -1: none.
  virtual int gradient_in_place() const { return -1; }
  /// A loss: in training forward overwrites input 0 with its gradient, and there is no backward.
  virtual bool is_loss() const { return false; }
  /// Multiply-adds of matrices in one forward pass, counted as two each. Backward is twice that.
  virtual double flops() const { return 0.0; }
};

}  // namespace bench::training
