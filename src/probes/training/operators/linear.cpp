#include "probes/training/operators/linear.h"

namespace bench::training {
namespace {

class Linear final : public Operator {
 public:
  Linear(bool transposed, bool bias, double flops)
      : transposed_(transposed), bias_(bias), flops_(flops) {}

  std::string_view name() const override { return "linear"; }
  bool backward_reads_input(std::size_t input) const override { return input < 2; }
  int gradient_in_place() const override { return residual_ ? residual_input() : -1; }
  double flops() const override { return flops_; }

  bool has_residual() const { return residual_; }
  void take_residual() { residual_ = true; }

  void forward(const Frame& f) const override {
    GemmOptions product{false, transposed_};
    if (bias_) product.bias = f.inputs[2];
    if (residual_) product.addend = f.inputs[static_cast<std::size_t>(residual_input())];
    f.kernels->gemm->multiply(product, f.inputs[0], f.inputs[1], f.output);
  }

  void backward(const Frame& f) const override {
    const View& dy = f.output_gradient;
    if (f.input_gradients[1]) weight_gradient(f, dy);
    if (bias_ && f.input_gradients[2])
      f.kernels->elementwise->column_sums(dy, f.input_gradients[2], f.adds(2));
    if (f.input_gradients[0]) {
      GemmOptions product{false, !transposed_};
      if (f.adds(0)) product.addend = f.input_gradients[0];
      f.kernels->gemm->multiply(product, dy, f.inputs[1], f.input_gradients[0]);
    }
    if (!residual_) return;
    const auto i = static_cast<std::size_t>(residual_input());
    if (f.input_gradients[i] && !f.shares_gradient(i))
      f.kernels->elementwise->copy(dy, f.input_gradients[i], f.adds(i));
  }

 private:
  int residual_input() const { return bias_ ? 3 : 2; }

  void weight_gradient(const Frame& f, const View& dy) const {
    GemmOptions product{true, false};
    if (f.adds(1)) product.addend = f.input_gradients[1];
    if (transposed_)
      f.kernels->gemm->multiply(product, dy, f.inputs[0], f.input_gradients[1]);
    else
      f.kernels->gemm->multiply(product, f.inputs[0], dy, f.input_gradients[1]);
  }

  bool transposed_, bias_;
  bool residual_ = false;
  double flops_;
};

}  // namespace

Var linear(Var x, Var w, const LinearOptions& options) {
  const std::int64_t in = options.transposed ? w.shape().columns() : w.shape().rows();
  const std::int64_t out = options.transposed ? w.shape().rows() : w.shape().columns();
  require(x.shape().columns() == in, "linear",
          "x is " + x.shape().text() + ", the weight '" + w.name() + "' " + w.shape().text() +
              (options.transposed ? " (transposed)" : ""));
  const std::int64_t rows = x.shape().rows();
  auto op = std::make_unique<Linear>(
      options.transposed, static_cast<bool>(options.bias),
      2.0 * static_cast<double>(rows) * static_cast<double>(in) * static_cast<double>(out));
  std::vector<Var> inputs{x, w};
  if (options.bias) {
    require(options.bias.shape().elements() == out, "linear",
            "the bias is " + options.bias.shape().text() + ", expected " + std::to_string(out));
    inputs.push_back(options.bias);
  }
  const Var y = x.graph->apply(std::move(op), inputs, {rows, out});
  if (options.residual) require(add_into_linear(options.residual, y), "linear", "no residual");
  return y;
}

bool add_into_linear(Var a, Var b) {
  Node* last = b.graph->last_node();
  if (!last || last->output != b.id || a.id == b.id) return false;
  auto* op = dynamic_cast<Linear*>(last->op.get());
  if (!op || op->has_residual()) return false;
  require(a.graph == b.graph && a.shape() == b.shape(), "linear",
          "the residual is " + a.shape().text() + ", the result " + b.shape().text());
  op->take_residual();
  last->inputs.push_back(a.id);
  return true;
}

}  // namespace bench::training
