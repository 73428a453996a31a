#include "probes/training/operators/cross.h"

namespace bench::training {
namespace {

class Cross final : public Operator {
 public:
  std::string_view name() const override { return "cross"; }
  bool backward_reads_input(std::size_t input) const override { return input < 2; }
  int gradient_in_place() const override { return 2; }
  void forward(const Frame& f) const override {
    f.kernels->recommender->cross_forward(f.inputs[0], f.inputs[1], f.inputs[2], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->recommender->cross_backward({f.inputs[0], f.inputs[1], f.output_gradient,
                                            f.input_gradients[0], f.input_gradients[1], f.adds(0),
                                            f.adds(1)});
    // The gradient of x comes last: it may share memory with y's or x0's gradient.
    if (f.input_gradients[2] && (f.adds(2) || !f.shares_gradient(2)))
      f.kernels->elementwise->copy(f.output_gradient, f.input_gradients[2], f.adds(2));
  }
};

}  // namespace

Var cross(Var x0, Var u, Var x) {
  require(x0.shape() == u.shape() && x0.shape() == x.shape(), "cross",
          x0.shape().text() + ", " + u.shape().text() + " and " + x.shape().text());
  return x0.graph->apply(std::make_unique<Cross>(), {x0, u, x},
                         {x0.shape().rows(), x0.shape().columns()});
}

}  // namespace bench::training
