#include "probes/training/operators/rope.h"

#include <cmath>

namespace bench::training {
namespace {

class RopeOperator final : public Operator {
 public:
  explicit RopeOperator(const AttentionShape& shape) : shape_(shape) {}

  std::string_view name() const override { return "rope"; }
  bool backward_reads_input(std::size_t input) const override { return input == 1; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }

  void forward(const Frame& f) const override {
    f.kernels->rope->rotate(shape_, false, f.inputs[0], f.inputs[1], f.output, false);
  }
  void backward(const Frame& f) const override {
    f.kernels->rope->rotate(shape_, true, f.output_gradient, f.inputs[1], f.input_gradients[0],
                            f.adds(0));
  }

 private:
  AttentionShape shape_;
};

}  // namespace

Var rope_angles(Graph& graph, const AttentionShape& shape, double theta) {
  require(shape.head_dim > 0 && shape.head_dim % 2 == 0, "rope",
          "the head dimension " + std::to_string(shape.head_dim) + " is odd");
  const std::int64_t half = shape.head_dim / 2;
  std::vector<double> values(static_cast<std::size_t>(shape.sequence * shape.head_dim));
  for (std::int64_t t = 0; t < shape.sequence; ++t)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(t) *
                           std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
      values[static_cast<std::size_t>(t * 2 * half + i)] = std::cos(angle);
      values[static_cast<std::size_t>(t * 2 * half + half + i)] = std::sin(angle);
    }
  return graph.constant("rope.angles", {shape.sequence, shape.head_dim}, std::move(values));
}

Var rope(Var packed, Var angles, const AttentionShape& shape) {
  require(packed.shape().columns() == shape.packed_columns() &&
              packed.shape().rows() % shape.sequence == 0,
          "rope",
          packed.shape().text() + " does not match packed rows of " + std::to_string(shape.packed_columns()) +
              " in sequences of " + std::to_string(shape.sequence));
  require(angles.shape() == Shape({shape.sequence, shape.head_dim}), "rope",
          "angles are " + angles.shape().text());
  return packed.graph->apply(std::make_unique<RopeOperator>(shape), {packed, angles},
                             {packed.shape().rows(), packed.shape().columns()});
}

}  // namespace bench::training
