#include "probes/training/operators/gelu.h"

namespace bench::training {
namespace {

class Gelu final : public Operator {
 public:
  std::string_view name() const override { return "gelu"; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->activation->gelu_forward(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->activation->gelu_backward(f.inputs[0], f.output_gradient, f.input_gradients[0],
                                         f.adds(0));
  }
};

}  // namespace

Var gelu(Var x) {
  return x.graph->apply(std::make_unique<Gelu>(), {x}, {x.shape().rows(), x.shape().columns()});
}

}  // namespace bench::training
