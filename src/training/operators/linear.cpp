#include "training/operators/linear.h"

#include <utility>

namespace bench::training {
namespace {

/// Sets the gradient of an input, if needed, to op(a) op(b), or adds that.
void gradient_product(const Frame& f, std::size_t input, GemmOptions product, View a, View b) {
  const View& gradient = f.input_gradients[input];
  if (!gradient) return;
  if (f.adds(input)) product.addend = gradient;
  f.kernels->gemm->multiply(product, a, b, gradient);
}

void bias_gradient(const Frame& f, std::size_t input, View output_gradient) {
  if (f.input_gradients[input])
    f.kernels->elementwise->column_sums(output_gradient, f.input_gradients[input], f.adds(input));
}

class Linear final : public Operator {
 public:
  Linear(bool transposed, bool bias, bool frozen, double flops)
      : transposed_(transposed), bias_(bias), frozen_(frozen), flops_(flops) {}

  std::string_view name() const override { return "linear"; }
  /// x only for the gradient of w.
  bool backward_reads_input(std::size_t input) const override {
    return input == 1 || (input == 0 && !frozen_);
  }
  int gradient_in_place() const override { return residual_ ? residual_input() : -1; }
  bool separates_weight_gradients() const override { return true; }
  double flops() const override { return flops_; }
  double backward_flops(const std::vector<bool>& needed) const override {
    return flops_ * ((needed[0] ? 1.0 : 0.0) + (needed[1] ? 1.0 : 0.0));
  }

  bool has_residual() const { return residual_; }
  void take_residual() { residual_ = true; }

  void forward(const Frame& f) const override {
    GemmOptions product{false, transposed_};
    if (bias_) product.bias = f.inputs[2];
    if (residual_) product.addend = f.inputs[static_cast<std::size_t>(residual_input())];
    f.kernels->gemm->multiply(product, f.inputs[0], f.inputs[1], f.output);
  }

  void backward(const Frame& f) const override {
    const View &dy = f.output_gradient, &x = f.inputs[0];
    gradient_product(f, 1, {true, false}, transposed_ ? dy : x, transposed_ ? x : dy);
    if (bias_) bias_gradient(f, 2, dy);
    gradient_product(f, 0, {false, !transposed_}, dy, f.inputs[1]);
    if (residual_) f.pass_gradient(static_cast<std::size_t>(residual_input()));
  }

 private:
  int residual_input() const { return bias_ ? 3 : 2; }

  bool transposed_, bias_;
  bool frozen_;  // the weight has no gradient
  bool residual_ = false;
  double flops_;
};

/// Makes `a` the residual of the linear that computed `b`, if b is the graph's last tensor and has
/// no residual yet. Returns whether it did.
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
    f.pass_gradient(1);
    f.pass_gradient(0);  // last: it may share memory with the output's gradient
  }
};

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
    gradient_product(f, kDown, {true, false}, f.saved[kAfter], dy);
    bias_gradient(f, kDownBias, dy);
    GemmOptions back;
    back.transpose_b = true;
    back.gelu = GeluStep::backward;
    back.gelu_input = f.saved[kBefore];
    multiply_gelu(*f.kernels, back, dy, f.inputs[kDown], between);
    gradient_product(f, kUp, {true, false}, f.inputs[kX], between);
    bias_gradient(f, kUpBias, between);
    gradient_product(f, kX, {false, true}, between, f.inputs[kUp]);
    f.pass_gradient(kResidual);
  }

 private:
  enum Input : std::size_t { kX, kUp, kUpBias, kDown, kDownBias, kResidual };
  enum Kept : std::size_t { kBefore, kAfter };

  std::int64_t rows_, hidden_;
  Dtype dtype_;
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
  const Tensor& weight = w.graph->tensor(w.id);
  const bool frozen = weight.kind == Tensor::Kind::parameter && !weight.parameter.trainable;
  auto op = std::make_unique<Linear>(
      options.transposed, static_cast<bool>(options.bias), frozen,
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

Var add(Var a, Var b) {
  require(a.shape() == b.shape(), "add", a.shape().text() + " and " + b.shape().text());
  if (add_into_linear(a, b)) return b;
  return a.graph->apply(std::make_unique<Add>(), {a, b}, a.shape());
}

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

void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c) {
  if (kernels.gemm->fuses(product, a, b, c)) return kernels.gemm->multiply(product, a, b, c);
  const GeluStep step = std::exchange(product.gelu, GeluStep::none);
  const View input = std::exchange(product.gelu_input, {});
  kernels.gemm->multiply(product, a, b, step == GeluStep::forward ? input : c);
  if (step == GeluStep::forward) kernels.activation->gelu_forward(input, c);
  if (step == GeluStep::backward) kernels.activation->gelu_backward(input, c, c, false);
}

}  // namespace bench::training
