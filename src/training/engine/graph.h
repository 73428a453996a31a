// A model's definition: parameters, inputs and operators in order, with all shapes. Model code
// builds it once with the functions in operators/:
//
//   Var h = rms_norm(x, p.norm1);
//   Var a = attention(rope(linear(h, p.wqkv), heads, 1e4), heads);
//   x = add(x, linear(a, p.wo));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/kernels/kernel_set.h"
#include "training/kernels/view.h"

namespace bench::training {

// The sizes of a tensor, outermost first, all known before a step runs.

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t size : sizes_) n *= size;
    return n;
  }
  /// The innermost size; 1 for a scalar.
  std::int64_t columns() const { return sizes_.empty() ? 1 : sizes_.back(); }
  std::int64_t rows() const { return columns() == 0 ? 0 : elements() / columns(); }
  /// "[2048, 64]"
  std::string text() const;
  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> sizes_;
};

// One step of a model's computation: what it costs, what it must find again in the backward pass,
// and which kernels do it. An operator knows shapes, never addresses: those come with each Frame.

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
  /// Makes the output's gradient this input's, or adds it.
  void pass_gradient(std::size_t input) const;
  /// What a loss multiplies its gradient by; 0 in evaluation, where no gradient is wanted.
  double loss_scale() const { return training ? scalars->gradient_scale : 0.0; }
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

// Initial parameter values: a function of (seed, name, element), so that every rank, shard and
// device produces the same values without communication.

struct Initial {
  enum class Kind { normal, constant } kind = Kind::normal;
  double value = 0.0;  // the standard deviation, or the constant

  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
  static Initial constant(double value) { return {Kind::constant, value}; }
};

/// Fills f32, bf16, f16 or f64; `first` is the number of the view's first element in the parameter.
void fill_initial(const Initial& initial, std::uint64_t seed, std::string_view name,
                  std::int64_t first, View values);

class Graph;

/// A tensor of a graph.
struct Var {
  Graph* graph = nullptr;
  int id = -1;

  const Shape& shape() const;
  const std::string& name() const;
  explicit operator bool() const { return graph != nullptr; }
};

struct ParameterOptions {
  Initial initial = {};
  bool decay = true;  // whether weight decay applies: to matrices, not to gains and biases
  bool trainable = true;
};

struct Tensor {
  enum class Kind { input, parameter, constant, activation } kind = Kind::activation;
  std::string name;
  Shape shape;
  Dtype dtype = Dtype::f32;
  int producer = -1;  // the node that makes it
  ParameterOptions parameter = {};
  std::vector<double> values = {};  // of a constant
  bool wants_gradient = false;      // of an input
};

struct Node {
  std::unique_ptr<Operator> op;
  std::vector<int> inputs = {};
  int output = -1;
  int segment = -1;  // of recomputation; -1: what it makes is kept
};

class Graph {
 public:
  /// `compute` is the type of parameters and activations: f32, bf16, f16, f64 for checks.
  explicit Graph(Dtype compute = Dtype::f32) : compute_(compute) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Dtype compute() const { return compute_; }
  Var input(std::string name, Shape shape, Dtype dtype);
  /// An input, in the compute type, whose gradient is needed, for parameters outside the graph
  /// (rows of large tables). Lane::gradient() has it after each backward().
  Var input_with_gradient(std::string name, Shape shape);
  /// Throws Error(internal) for a second parameter of that name.
  Var parameter(std::string name, Shape shape, ParameterOptions options = {});
  /// A table that does not change, in accumulator_of the type of the computation.
  Var constant(std::string name, Shape shape, std::vector<double> values);
  /// Appends an operator; `output_type` is that of the computation where it is left out.
  Var apply(std::unique_ptr<Operator> op, const std::vector<Var>& inputs, Shape output);
  Var apply(std::unique_ptr<Operator> op, const std::vector<Var>& inputs, Shape output,
            Dtype output_type);

  /// Activations created in between are discarded after the forward pass and recomputed before the
  /// backward pass of the same operators: less memory, a second forward pass. Segments do not nest.
  void begin_recompute();
  void end_recompute();

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The last node, for an operator that can take the next one in; null when there is none.
  Node* last_node() { return nodes_.empty() ? nullptr : &nodes_.back(); }

  /// Elements of all parameters.
  std::int64_t parameter_count() const;
  /// Of one forward pass over the graph's batch. Training is three times that, by convention.
  double forward_flops() const;

 private:
  Var add(Tensor tensor);

  Dtype compute_;
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
  int segment_ = -1;
  int segments_ = 0;
};

/// Throws Error(internal) "rope: ..., q is [2, 3]" unless `holds`; operators check shapes by this.
void require(bool holds, const std::string& op, const std::string& what);

/// A workload's model at one size of micro-batch.
struct Model {
  std::unique_ptr<Graph> graph = {};
  Var losses = {};  // f64, one a row
  std::vector<Var> inputs = {};
  std::vector<Var> outputs = {};  // read by an evaluation in addition to the losses
};

}  // namespace bench::training
