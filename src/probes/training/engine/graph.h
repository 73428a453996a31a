// A model's definition: parameters, inputs and operators in order, with all shapes. Model code builds
// it once with the functions in operators/:
//
//   Var h = rms_norm(x, p.norm1);
//   Var a = attention(rope(linear(h, p.wqkv), heads, 1e4), heads);
//   x = add(x, linear(a, p.wo));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/training/engine/initial_values.h"
#include "probes/training/engine/operator.h"

namespace bench::training {

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
  /// An input, in the compute type, whose gradient is needed, for parameters outside the graph (rows
  /// of large tables). Lane::gradient() has it after each
  /// backward().
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

}  // namespace bench::training
