#include "probes/operators/operator_inputs.h"

#include <cmath>
#include <functional>
#include <memory>

#include "core/elements.h"

namespace bench {
namespace {

using training::Frame;
using training::Initial;
using training::Shape;
using training::Var;

class CopyOperator final : public training::Operator {
 public:
  std::string_view name() const override { return "copy"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->elementwise->copy(f.inputs[0], f.output, false);
  }
  void backward(const Frame& f) const override { f.pass_gradient(0); }
};

/// Different for each name, and the same on every machine.
std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  for (const char c : name) seed = random_bits(seed, static_cast<unsigned char>(c));
  return seed;
}

}  // namespace

std::vector<double> input_values(const training::Tensor& tensor, const InputFill& fill,
                                 std::uint64_t seed) {
  if (fill.kind == InputFill::Kind::given) return fill.values;
  std::vector<double> values(static_cast<std::size_t>(tensor.shape.elements()));
  const std::uint64_t stream = seed_of(tensor.name, seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (fill.kind == InputFill::Kind::ids) {
      values[i] =
          static_cast<double>(random_bits(stream, i) % static_cast<std::uint64_t>(fill.bound));
      continue;
    }
    const double value = random_normal(stream, i);
    values[i] =
        rounded(fill.kind == InputFill::Kind::positive ? std::abs(value) : value, tensor.dtype);
  }
  return values;
}

Var copy_of(Var x) { return x.graph->apply(std::make_unique<CopyOperator>(), {x}, x.shape()); }

OperatorInputs::OperatorInputs(training::Graph& graph) : graph_(graph) {
  copy_of(input("start", {1, 1}, graph.compute(), {}));
}

Var OperatorInputs::input(const std::string& name, const Shape& shape, Dtype dtype,
                          const InputFill& fill) {
  const Var var = graph_.input(name, shape, dtype);
  filled_.push_back({var, fill});
  return var;
}

Var OperatorInputs::activation(const std::string& name, const Shape& shape) {
  const Var var = graph_.input_with_gradient(name, shape);
  filled_.push_back({var, {}});
  with_gradient_.push_back(copy_of(var));
  return with_gradient_.back();
}

Var OperatorInputs::state(const std::string& name, const Shape& shape, InputFill::Kind kind) {
  return input(name, shape, training::accumulator_of(compute()), {kind});
}

Var OperatorInputs::ids(const std::string& name, const Shape& shape, std::int64_t bound) {
  return input(name, shape, Dtype::int32, {InputFill::Kind::ids, bound});
}

Var OperatorInputs::numbers(const std::string& name, const std::vector<double>& values) {
  return input(name, {1, static_cast<std::int64_t>(values.size())}, Dtype::f64,
               {InputFill::Kind::given, 0, values});
}

Var OperatorInputs::matrix(const std::string& name, const Shape& shape, bool trainable) {
  training::ParameterOptions options;
  options.initial = Initial::normal(1.0 / std::sqrt(static_cast<double>(shape.rows())));
  options.trainable = trainable;
  const Var var = graph_.parameter(name, shape, options);
  if (trainable) with_gradient_.push_back(var);
  return var;
}

Var OperatorInputs::gain(const std::string& name, std::int64_t columns) {
  const Var var = graph_.parameter(name, {1, columns}, {Initial::normal(1.0)});
  with_gradient_.push_back(var);
  return var;
}

}  // namespace bench
