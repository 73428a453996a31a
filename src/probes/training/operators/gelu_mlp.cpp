#include "probes/training/operators/gelu_mlp.h"

#include "probes/training/kernels/gelu_product.h"

namespace bench::training {
namespace {

class GeluMlp final : public Operator {
 public:
  GeluMlp(std::int64_t rows, std::int64_t hidden, Dtype dtype, double flops)
      : rows_(rows), hidden_(hidden), dtype_(dtype), flops_(flops) {}

  std::string_view name() const override { return "gelu_mlp"; }
  bool backward_reads_input(std::size_t input) const override {
    return input == kX || input == kUp || input == kDown;
  }
  int gradient_in_place() const override { return kResidual; }
  /// GELU's input and output.
  std::vector<Saved> saved() const override {
    return {{{rows_, hidden_}, false}, {{rows_, hidden_}, false}};
  }
  /// The gradient of GELU's input.
  std::int64_t backward_workspace() const override {
    const std::int64_t wide = static_cast<std::int64_t>(size_of(accumulator_of(dtype_)));
    const std::int64_t bytes = rows_ * hidden_ * static_cast<std::int64_t>(size_of(dtype_));
    return (bytes + wide - 1) / wide;
  }
  double flops() const override { return flops_; }

  void forward(const Frame& f) const override {
    GemmOptions up;
    up.bias = f.inputs[kUpBias];
    up.gelu = GeluStep::forward;
    up.gelu_input = f.saved[kBefore];
    multiply_gelu(*f.kernels, up, f.inputs[kX], f.inputs[kUp], f.saved[kAfter]);
    GemmOptions down;
    down.bias = f.inputs[kDownBias];
    down.addend = f.inputs[kResidual];
    f.kernels->gemm->multiply(down, f.saved[kAfter], f.inputs[kDown], f.output);
  }

  void backward(const Frame& f) const override {
    const View& dy = f.output_gradient;
    const View between{f.workspace.data, rows_, hidden_, dtype_};
    parameters(f, f.saved[kAfter], dy, kDown, kDownBias);
    GemmOptions back;
    back.transpose_b = true;
    back.gelu = GeluStep::backward;
    back.gelu_input = f.saved[kBefore];
    multiply_gelu(*f.kernels, back, dy, f.inputs[kDown], between);
    parameters(f, f.inputs[kX], between, kUp, kUpBias);
    if (const View& dx = f.input_gradients[kX]) {
      GemmOptions product{false, true};
      if (f.adds(kX)) product.addend = dx;
      f.kernels->gemm->multiply(product, between, f.inputs[kUp], dx);
    }
    if (f.input_gradients[kResidual] && !f.shares_gradient(kResidual))
      f.kernels->elementwise->copy(dy, f.input_gradients[kResidual], f.adds(kResidual));
  }

 private:
  enum Input : std::size_t { kX, kUp, kUpBias, kDown, kDownBias, kResidual };
  enum Kept : std::size_t { kBefore, kAfter };

  void parameters(const Frame& f, const View& rows, const View& gradient, std::size_t weight,
                  std::size_t bias) const {
    if (f.input_gradients[weight]) {
      GemmOptions product{true, false};
      if (f.adds(weight)) product.addend = f.input_gradients[weight];
      f.kernels->gemm->multiply(product, rows, gradient, f.input_gradients[weight]);
    }
    if (f.input_gradients[bias])
      f.kernels->elementwise->column_sums(gradient, f.input_gradients[bias], f.adds(bias));
  }

  std::int64_t rows_, hidden_;
  Dtype dtype_;
  double flops_;
};

}  // namespace

Var gelu_mlp(Var x, const GeluMlpWeights& weights, Var residual) {
  const std::int64_t rows = x.shape().rows(), in = x.shape().columns();
  const std::int64_t hidden = weights.up.shape().columns(), out = weights.down.shape().columns();
  require(weights.up.shape().rows() == in && weights.down.shape().rows() == hidden, "gelu_mlp",
          "x is " + x.shape().text() + ", up " + weights.up.shape().text() + ", down " +
              weights.down.shape().text());
  require(
      weights.up_bias.shape().elements() == hidden && weights.down_bias.shape().elements() == out,
      "gelu_mlp",
      "the biases are " + weights.up_bias.shape().text() + " and " +
          weights.down_bias.shape().text());
  require(residual.shape().rows() == rows && residual.shape().columns() == out, "gelu_mlp",
          "the residual is " + residual.shape().text());
  auto op =
      std::make_unique<GeluMlp>(rows, hidden, x.graph->compute(),
                                2.0 * static_cast<double>(rows) * static_cast<double>(hidden) *
                                    static_cast<double>(in + out));
  return x.graph->apply(std::move(op),
                        {x, weights.up, weights.up_bias, weights.down, weights.down_bias, residual},
                        {rows, out});
}

}  // namespace bench::training
