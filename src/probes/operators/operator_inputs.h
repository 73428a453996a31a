// The graph around one operator that is measured alone: inputs before it, and behind it a copy of
// its output, over which a test writes the gradient that the rest of a model would send.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/engine/graph.h"

namespace bench {

/// What an input is filled with.
struct InputFill {
  enum class Kind { normal, positive, ids, given } kind = Kind::normal;
  std::int64_t bound = 0;           // of ids: 0 to bound - 1
  std::vector<double> values = {};  // if given
};

/// The values of an input that depend only on its name, rounded to its type.
std::vector<double> input_values(const training::Tensor& tensor, const InputFill& fill,
                                 std::uint64_t seed);

/// y = x in memory of its own; the gradient passes.
training::Var copy_of(training::Var x);

class OperatorInputs {
 public:
  /// Begins the graph with a copy, so that the measured operator is never the first action, before
  /// which a lane uploads its inputs.
  explicit OperatorInputs(training::Graph& graph);
  OperatorInputs(const OperatorInputs&) = delete;
  OperatorInputs& operator=(const OperatorInputs&) = delete;

  Dtype compute() const { return graph_.compute(); }
  training::Graph& graph() { return graph_; }

  /// An activation, of which the operator may reuse the memory, as in a model.
  training::Var activation(const std::string& name, const training::Shape& shape);
  /// An input without a gradient that the operator may change.
  training::Var state(const std::string& name, const training::Shape& shape,
                      InputFill::Kind kind = InputFill::Kind::normal);
  training::Var ids(const std::string& name, const training::Shape& shape, std::int64_t bound);
  /// In f64, with these values.
  training::Var numbers(const std::string& name, const std::vector<double>& values);
  /// Values with a standard deviation of 1 / sqrt(rows), so that results are as large as inputs.
  training::Var matrix(const std::string& name, const training::Shape& shape,
                       bool trainable = true);
  training::Var gain(const std::string& name, std::int64_t columns);

  struct Filled {
    training::Var var;
    InputFill fill;
  };
  const std::vector<Filled>& filled() const { return filled_; }
  /// All whose gradients the backward pass computes.
  const std::vector<training::Var>& with_gradient() const { return with_gradient_; }

 private:
  training::Var input(const std::string& name, const training::Shape& shape, Dtype dtype,
                      const InputFill& fill);

  training::Graph& graph_;
  std::vector<Filled> filled_ = {};
  std::vector<training::Var> with_gradient_ = {};
};

}  // namespace bench
