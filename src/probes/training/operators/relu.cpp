#include "probes/training/operators/relu.h"

namespace bench::training {
namespace {

class Relu final : public Operator {
 public:
  std::string_view name() const override { return "relu"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  bool backward_reads_output() const override { return true; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->recommender->relu_forward(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->recommender->relu_backward(f.output, f.output_gradient, f.input_gradients[0],
                                          f.adds(0));
  }
};

}  // namespace

Var relu(Var x) {
  return x.graph->apply(std::make_unique<Relu>(), {x}, {x.shape().rows(), x.shape().columns()});
}

}  // namespace bench::training
