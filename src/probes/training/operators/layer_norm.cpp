#include "probes/training/operators/layer_norm.h"

namespace bench::training {
namespace {

class LayerNorm final : public Operator {
 public:
  LayerNorm(double epsilon, std::int64_t rows) : epsilon_(epsilon), rows_(rows) {}

  std::string_view name() const override { return "layer_norm"; }
  std::vector<Saved> saved() const override { return {{{rows_, 2}}}; }
  bool backward_reads_input(std::size_t input) const override { return input < 2; }

  void forward(const Frame& f) const override {
    f.kernels->norm->layer_forward(f.inputs[0], f.inputs[1], f.inputs[2], epsilon_, f.output,
                                   f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->norm->layer_backward({f.inputs[0], f.inputs[1], f.saved[0], f.output_gradient,
                                     f.input_gradients[0], f.input_gradients[1],
                                     f.input_gradients[2], f.adds(0), f.adds(1), f.adds(2)});
  }

 private:
  double epsilon_;
  std::int64_t rows_;
};

}  // namespace

Var layer_norm(Var x, Var gain, Var bias, double epsilon) {
  require(gain.shape().elements() == x.shape().columns() &&
              bias.shape().elements() == x.shape().columns(),
          "layer_norm",
          "x is " + x.shape().text() + ", the gain " + gain.shape().text() + ", the bias " +
              bias.shape().text());
  const std::int64_t rows = x.shape().rows();
  return x.graph->apply(std::make_unique<LayerNorm>(epsilon, rows), {x, gain, bias},
                        {rows, x.shape().columns()});
}

}  // namespace bench::training
