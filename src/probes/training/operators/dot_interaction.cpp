#include "probes/training/operators/dot_interaction.h"

namespace bench::training {
namespace {

class DotInteraction final : public Operator {
 public:
  explicit DotInteraction(double flops) : flops_(flops) {}
  std::string_view name() const override { return "dot_interaction"; }
  double flops() const override { return flops_; }
  void forward(const Frame& f) const override {
    f.kernels->recommender->dot_forward(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->recommender->dot_backward({f.inputs[0], f.inputs[1], f.output_gradient,
                                          f.input_gradients[0], f.input_gradients[1], f.adds(0),
                                          f.adds(1)});
  }

 private:
  double flops_;
};

}  // namespace

Var dot_interaction(Var first, Var rest) {
  const std::int64_t rows = first.shape().rows(), d = first.shape().columns();
  require(rest.shape().rows() == rows && rest.shape().columns() % d == 0, "dot_interaction",
          first.shape().text() + " and " + rest.shape().text());
  const std::int64_t n = rest.shape().columns() / d, pairs = n * (n + 1) / 2;
  return first.graph->apply(
      std::make_unique<DotInteraction>(2.0 * static_cast<double>(rows * pairs * d)), {first, rest},
      {rows, d + pairs});
}

}  // namespace bench::training
