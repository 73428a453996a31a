#include "training/operators/neighbours.h"

#include <memory>
#include <string>

namespace bench::training {
namespace {

class NeighbourAttention final : public Operator {
 public:
  NeighbourAttention(const NeighbourShape& shape, double flops) : shape_(shape), flops_(flops) {}
  std::string_view name() const override { return "neighbour_attention"; }
  double flops() const override { return flops_; }
  void forward(const Frame& f) const override {
    f.kernels->neighbours->attention(shape_, inputs(f), f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->neighbours->attention_backward(
        shape_, {inputs(f), f.output_gradient, f.input_gradients[0], f.input_gradients[1],
                 f.input_gradients[2], f.adds(0), f.adds(1), f.adds(2)});
  }

 private:
  static NeighbourInputs inputs(const Frame& f) { return {f.inputs[0], f.inputs[1], f.inputs[2]}; }

  NeighbourShape shape_;
  double flops_;
};

}  // namespace

Var neighbour_attention(Var values, Var own, Var vector, const NeighbourShape& shape) {
  require(shape.fan_out > 0 && shape.heads > 0 && shape.head_dim > 0 &&
              own.shape().columns() == shape.heads &&
              values.shape() == Shape{own.shape().rows() * shape.fan_out, shape.width()} &&
              vector.shape() == Shape{1, shape.width()},
          "neighbour_attention",
          "values are " + values.shape().text() + ", own scores " + own.shape().text() +
              ", the vector " + vector.shape().text() + " for " + std::to_string(shape.fan_out) +
              " neighbours and " + std::to_string(shape.heads) + " heads of " +
              std::to_string(shape.head_dim));
  const double flops = 4.0 * static_cast<double>(values.shape().elements());
  return values.graph->apply(std::make_unique<NeighbourAttention>(shape, flops),
                             {values, own, vector}, {own.shape().rows(), shape.width()});
}

}  // namespace bench::training
