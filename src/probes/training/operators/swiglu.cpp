#include "probes/training/operators/swiglu.h"

namespace bench::training {
namespace {

class Swiglu final : public Operator {
 public:
  std::string_view name() const override { return "swiglu"; }
  void forward(const Frame& f) const override {
    f.kernels->activation->swiglu_forward(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->activation->swiglu_backward(f.inputs[0], f.output_gradient, f.input_gradients[0],
                                           f.adds(0));
  }
};

}  // namespace

Var swiglu(Var x) {
  require(x.shape().columns() % 2 == 0, "swiglu", "x is " + x.shape().text());
  return x.graph->apply(std::make_unique<Swiglu>(), {x},
                        {x.shape().rows(), x.shape().columns() / 2});
}

}  // namespace bench::training
