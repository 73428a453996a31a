#include "probes/training/operators/add.h"

#include "probes/training/operators/linear.h"

namespace bench::training {
namespace {

class Add final : public Operator {
 public:
  std::string_view name() const override { return "add"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }

  void forward(const Frame& f) const override {
    f.kernels->elementwise->add(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    for (std::size_t i = 2; i-- > 0;)
      if (f.input_gradients[i] && (f.adds(i) || !f.shares_gradient(i)))
        f.kernels->elementwise->copy(f.output_gradient, f.input_gradients[i], f.adds(i));
  }
};

}  // namespace

Var add(Var a, Var b) {
  require(a.shape() == b.shape(), "add", a.shape().text() + " and " + b.shape().text());
  if (add_into_linear(a, b)) return b;
  return a.graph->apply(std::make_unique<Add>(), {a, b}, {a.shape().rows(), a.shape().columns()});
}

}  // namespace bench::training
