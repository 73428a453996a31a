// A model's definition: parameters, inputs and operators in order, with all shapes. Model code
// builds it once with the functions in operators/:
//
//   Var h = rms_norm(x, p.norm1);
//   Var a = attention(rope(linear(h, p.wqkv), heads, 1e4), heads);
//   x = add(x, linear(a, p.wo));
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/context_part.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/view.h"

namespace bench::training {

/// The sizes of a tensor, outermost first.
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

/// The values that change from step to step.
struct StepScalars {
  double gradient_scale = 1.0;    // of the loss: the reciprocal of the number of its rows
  bool first_micro_batch = true;  // parameter gradients are written, not added to
};

/// Whether a gradient is the first contribution to its buffer.
enum class Adds { no, yes, after_first_micro_batch };

/// The views of one operator in one lane, made once and used in every step. Absent views have no
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
  /// Copies the output's gradient to this input's, unless they share memory, or adds it.
  void pass_gradient(std::size_t input) const;
  /// What a loss multiplies its gradient by; 0 in evaluation.
  double loss_scale() const { return training ? scalars->gradient_scale : 0.0; }
};

/// An additional result of the forward pass for the backward pass.
struct Saved {
  Shape shape;
  bool statistic = true;  // in accumulator_of(compute type), else in the compute type
};

/// Elements of the buffers in which an operator exchanges with other ranks (RankKernels): what it
/// receives, and what it pads. Of tensor ranks and of copies that share parameters.
struct ExchangeBuffers {
  std::int64_t received = 0, padded = 0;

  static ExchangeBuffers of_sum(std::int64_t elements, std::int64_t ranks) {
    const std::int64_t all = (elements + ranks - 1) / ranks * ranks;
    return {all, all == elements ? 0 : all};
  }
  void cover(const ExchangeBuffers& other) {
    received = std::max(received, other.received);
    padded = std::max(padded, other.padded);
  }
};
struct OperatorExchange {
  ExchangeBuffers tensor = {}, copies = {};
};

/// One operation of a model: its costs, the tensors it saves for the backward pass, and its
/// kernels. An operator knows shapes but no addresses: those are in each Frame.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::string_view name() const = 0;
  virtual void forward(const Frame& frame) const = 0;
  virtual void backward(const Frame& frame) const = 0;

  virtual bool backward_reads_input(std::size_t) const { return true; }
  /// Whether this input gets a gradient: not if it only selects rows.
  virtual bool has_gradient(std::size_t) const { return true; }
  virtual bool backward_reads_output() const { return false; }
  virtual std::vector<Saved> saved() const { return {}; }
  /// Scratch elements for forward and for backward, in accumulator_of(compute type).
  virtual std::int64_t forward_workspace() const { return 0; }
  virtual std::int64_t backward_workspace() const { return 0; }
  /// The input whose memory the output may reuse if nothing else reads it; -1: none.
  virtual int in_place() const { return -1; }
  /// The input whose gradient may take the memory of the output's gradient; -1: none.
  virtual int gradient_in_place() const { return -1; }
  virtual OperatorExchange exchange() const { return {}; }
  /// Elements of the largest message that it sends to another rank (RankKernels::send()).
  virtual std::int64_t largest_message() const { return 0; }
  /// Whether its output is computed again for the backward pass, instead of kept.
  virtual bool again_for_backward() const { return false; }
  /// Whether backward() may be called first for the gradients of activations and later for those
  /// of parameters.
  virtual bool separates_weight_gradients() const { return false; }
  /// Whether it reads rows of input 1 by ID: those that no ID names have no gradient.
  virtual bool looks_up_rows() const { return false; }
  /// Whether it is a loss, which overwrites input 0 with its gradient in training forward passes.
  virtual bool is_loss() const { return false; }
  /// FLOPs of the GEMMs of one forward pass.
  virtual double flops() const { return 0.0; }
  /// Those of them that the backward pass does again.
  virtual double repeated_flops() const { return 0.0; }
  /// Of the backward pass if the gradients of these inputs are needed: twice as many, unless some
  /// inputs are frozen.
  virtual double backward_flops(const std::vector<bool>& /*needed*/) const { return 2.0 * flops(); }
};

/// Initial parameter values: a function of (seed, name, element), so that every rank, shard and
/// device produces the same values without communication.
struct Initial {
  enum class Kind { normal, constant } kind = Kind::normal;
  double value = 0.0;  // the standard deviation, or the constant

  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
  static Initial constant(double value) { return {Kind::constant, value}; }
};

/// Fills f32, bf16, f16 or f64; `first` is the parameter's element at the start of the view.
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

/// The part of a parameter that one rank has: consecutive rows, and of each row these columns.
struct ParameterSlice {
  struct Columns {
    std::int64_t first = 0, count = 0;
    bool operator==(const Columns&) const = default;
  };
  Shape whole = {};  // [rows, columns]; empty: the rank has all of it
  std::int64_t first_row = 0;
  std::vector<Columns> columns = {};  // in this order

  bool is_part() const { return !(whole == Shape()); }
};

/// The part of a parameter's elements that one copy of the model has (ZeRO, arXiv 1910.02054): the
/// parameter, or slice of one, as a row that is cut into equal parts, the last of them padded.
struct ParameterShard {
  int rank = 0;
  int ranks = 1;
  Shape of = {};  // what is cut

  std::int64_t elements() const { return (of.elements() + ranks - 1) / ranks; }
  /// Without padding; 0 if there is nothing else.
  std::int64_t real_elements() const {
    return std::clamp<std::int64_t>(of.elements() - rank * elements(), 0, elements());
  }
};

struct ParameterOptions {
  Initial initial = {};
  bool decay = true;  // whether weight decay applies: to matrices, not to gains and biases
  bool trainable = true;
  ParameterSlice slice = {};
  ParameterShard shard = {};
};

/// Fills the part of a parameter that slice and shard describe, the padding with zeros.
void fill_initial(const ParameterOptions& options, std::uint64_t seed, std::string_view name,
                  View part);

struct Tensor {
  enum class Kind { input, parameter, constant, activation } kind = Kind::activation;
  std::string name;
  Shape shape;
  Dtype dtype = Dtype::f32;
  int producer = -1;  // the node that computes it
  ParameterOptions parameter = {};
  std::vector<double> values = {};  // of a constant
  bool wants_gradient = false;      // of an input
};

struct Node {
  std::unique_ptr<Operator> op;
  std::vector<int> inputs = {};
  int output = -1;
  int segment = -1;  // of recomputation; -1: the output is kept
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
  /// A constant table, in accumulator_of(compute type).
  Var constant(std::string name, Shape shape, std::vector<double> values);
  /// Appends an operator whose output has the compute type, or `output_type`.
  Var apply(std::unique_ptr<Operator> op, const std::vector<Var>& inputs, Shape output,
            std::optional<Dtype> output_type = {});

  /// Activations created in between are discarded after the forward pass and recomputed before the
  /// backward pass of the same operators, which saves memory. Segments cannot be nested.
  void begin_recompute();
  void end_recompute();

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor& tensor(int id) const { return tensors_[static_cast<std::size_t>(id)]; }
  /// The IDs of all parameters.
  std::vector<int> parameters() const;
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The last node, for an operator that can absorb the next one; null if there is none.
  Node* last_node() { return nodes_.empty() ? nullptr : &nodes_.back(); }

  /// Elements of all parameters.
  std::int64_t parameter_count() const;
  /// Elements of the parameters that are trained.
  std::int64_t trainable_count() const;
  /// Of one forward pass over the graph's batch.
  double forward_flops() const;
  /// Of one forward and backward pass: three times as many, less the gradients that frozen
  /// parameters, and inputs behind which nothing is trained, do not need.
  double training_flops() const;

 private:
  Var add(Tensor tensor);

  Dtype compute_;
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
  int segment_ = -1;
  int segments_ = 0;
};

/// Throws Error(internal) "op: what" unless `holds`; operators check shapes with it.
void require(bool holds, const std::string& op, const std::string& what);

/// What a stage of a pipeline receives from the previous one and sends to the next one; all absent
/// in a model without stages.
struct StageTensors {
  Var received = {};                  // with a gradient; absent in the first stage
  Var sent = {};                      // as of end_stage(); absent in the last stage
  std::vector<Var> next_chunks = {};  // as of next_chunk()
};

/// A workload's model, or a rank's part of it, for one micro-batch size.
struct Model {
  std::unique_ptr<Graph> graph = {};
  Var losses = {};  // f64, one per row; without values in a stage that is not the last
  std::vector<Var> inputs = {};
  std::vector<Var> outputs = {};  // read by an evaluation in addition to the losses
  StageTensors stage = {};
  ContextPart context = {};  // the tokens of each sample that inputs and losses have
};

}  // namespace bench::training
