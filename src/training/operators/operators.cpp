#include "training/operators/operators.h"

#include <cmath>
#include <utility>

namespace bench::training {
namespace {

class RopeOperator final : public Operator {
 public:
  explicit RopeOperator(const AttentionShape& shape) : shape_(shape) {}

  std::string_view name() const override { return "rope"; }
  bool backward_reads_input(std::size_t input) const override { return input == 1; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }

  void forward(const Frame& f) const override {
    f.kernels->rope->rotate(shape_, false, f.inputs[0], f.inputs[1], f.output, false);
  }
  void backward(const Frame& f) const override {
    f.kernels->rope->rotate(shape_, true, f.output_gradient, f.inputs[1], f.input_gradients[0],
                            f.adds(0));
  }

 private:
  AttentionShape shape_;
};

}  // namespace

Var rope_angles(Graph& graph, const AttentionShape& shape, double theta) {
  require(shape.head_dim > 0 && shape.head_dim % 2 == 0, "rope",
          "the head dimension " + std::to_string(shape.head_dim) + " is odd");
  const std::int64_t half = shape.head_dim / 2;
  std::vector<double> values(static_cast<std::size_t>(shape.sequence * shape.head_dim));
  for (std::int64_t t = 0; t < shape.sequence; ++t)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(t) *
                           std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
      values[static_cast<std::size_t>(t * 2 * half + i)] = std::cos(angle);
      values[static_cast<std::size_t>(t * 2 * half + half + i)] = std::sin(angle);
    }
  return graph.constant("rope.angles", {shape.sequence, shape.head_dim}, std::move(values));
}

Var rope(Var packed, Var angles, const AttentionShape& shape) {
  require(packed.shape().columns() == shape.packed_columns() &&
              packed.shape().rows() % shape.sequence == 0,
          "rope",
          packed.shape().text() + " does not match packed rows of " +
              std::to_string(shape.packed_columns()) + " in sequences of " +
              std::to_string(shape.sequence));
  require(angles.shape() == Shape({shape.sequence, shape.head_dim}), "rope",
          "angles are " + angles.shape().text());
  return packed.graph->apply(std::make_unique<RopeOperator>(shape), {packed, angles},
                             {packed.shape().rows(), packed.shape().columns()});
}

namespace {

constexpr std::int64_t kLargestHead = 256;  // limit of the kernels' scratch space

class AttentionOperator final : public Operator {
 public:
  AttentionOperator(const AttentionShape& shape, std::int64_t rows) : shape_(shape), rows_(rows) {}

  std::string_view name() const override { return "attention"; }
  bool backward_reads_output() const override { return true; }
  std::vector<Saved> saved() const override { return {{{rows_, shape_.heads}}}; }
  std::int64_t backward_workspace() const override { return rows_ * shape_.heads; }
  double flops() const override {
    return (shape_.causal ? 2.0 : 4.0) * static_cast<double>(rows_) *
           static_cast<double>(shape_.sequence) * static_cast<double>(shape_.output_columns());
  }

  void forward(const Frame& f) const override {
    f.kernels->attention->forward(shape_, f.inputs[0], f.output, f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->attention->backward(shape_, {f.inputs[0], f.output, f.output_gradient, f.saved[0],
                                            f.workspace, f.input_gradients[0], f.adds(0)});
  }

 private:
  AttentionShape shape_;
  std::int64_t rows_;
};

}  // namespace

Var attention(Var packed, const AttentionShape& shape) {
  require(shape.head_dim > 0 && shape.head_dim <= kLargestHead, "attention",
          "the head dimension " + std::to_string(shape.head_dim) + " exceeds " +
              std::to_string(kLargestHead));
  require(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "attention",
          std::to_string(shape.heads) + " heads are not a multiple of " +
              std::to_string(shape.kv_heads) + " key/value heads");
  require(shape.shifted_kv_heads >= 0 && shape.shifted_kv_heads <= shape.kv_heads, "attention",
          std::to_string(shape.shifted_kv_heads) + " of " + std::to_string(shape.kv_heads) +
              " key/value heads shifted");
  require(packed.shape().columns() == shape.packed_columns() && shape.sequence > 0 &&
              packed.shape().rows() % shape.sequence == 0,
          "attention",
          packed.shape().text() + " does not match packed rows of " +
              std::to_string(shape.packed_columns()) + " in sequences of " +
              std::to_string(shape.sequence));
  const std::int64_t rows = packed.shape().rows();
  return packed.graph->apply(std::make_unique<AttentionOperator>(shape, rows), {packed},
                             {rows, shape.output_columns()});
}

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

void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c) {
  if (kernels.gemm->fuses(product, a, b, c)) return kernels.gemm->multiply(product, a, b, c);
  const GeluStep step = std::exchange(product.gelu, GeluStep::none);
  const View input = std::exchange(product.gelu_input, {});
  kernels.gemm->multiply(product, a, b, step == GeluStep::forward ? input : c);
  if (step == GeluStep::forward) kernels.activation->gelu_forward(input, c);
  if (step == GeluStep::backward) kernels.activation->gelu_backward(input, c, c, false);
}

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

namespace {

class RmsNorm final : public Operator {
 public:
  RmsNorm(double epsilon, std::int64_t rows) : epsilon_(epsilon), rows_(rows) {}

  std::string_view name() const override { return "rms_norm"; }
  std::vector<Saved> saved() const override { return {{{rows_, 1}}}; }

  void forward(const Frame& f) const override {
    f.kernels->norm->rms_forward(f.inputs[0], f.inputs[1], epsilon_, f.output, f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->norm->rms_backward({f.inputs[0],
                                   f.inputs[1],
                                   f.saved[0],
                                   f.output_gradient,
                                   f.input_gradients[0],
                                   f.input_gradients[1],
                                   {},
                                   f.adds(0),
                                   f.adds(1),
                                   false});
  }

 private:
  double epsilon_;
  std::int64_t rows_;
};

}  // namespace

Var rms_norm(Var x, Var gain, double epsilon) {
  require(gain.shape().elements() == x.shape().columns(), "rms_norm",
          "x is " + x.shape().text() + ", the gain " + gain.shape().text());
  const std::int64_t rows = x.shape().rows();
  return x.graph->apply(std::make_unique<RmsNorm>(epsilon, rows), {x, gain},
                        {rows, x.shape().columns()});
}

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

namespace {

class Embedding final : public Operator {
 public:
  std::string_view name() const override { return "embedding"; }
  bool backward_reads_input(std::size_t input) const override { return input == 0; }
  void forward(const Frame& f) const override {
    f.kernels->embedding->forward(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->embedding->backward(f.inputs[0], f.output_gradient, f.input_gradients[1], f.adds(1));
  }
};

class AddPositions final : public Operator {
 public:
  std::string_view name() const override { return "add_positions"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->embedding->add_positions(f.inputs[0], f.inputs[1], f.inputs[1].rows, f.output);
  }
  void backward(const Frame& f) const override {
    if (f.input_gradients[1])
      f.kernels->embedding->positions_backward(f.output_gradient, f.inputs[1].rows,
                                               f.input_gradients[1], f.adds(1));
    if (f.input_gradients[0] && !f.shares_gradient(0))
      f.kernels->elementwise->copy(f.output_gradient, f.input_gradients[0], f.adds(0));
  }
};

}  // namespace

Var embedding(Var ids, Var table) {
  require(ids.shape().columns() == 1, "embedding", "ids are " + ids.shape().text());
  return table.graph->apply(std::make_unique<Embedding>(), {ids, table},
                            {ids.shape().rows(), table.shape().columns()});
}

Var add_positions(Var x, Var table) {
  require(x.shape().columns() == table.shape().columns() &&
              x.shape().rows() % table.shape().rows() == 0,
          "add_positions", "x is " + x.shape().text() + ", the table " + table.shape().text());
  return x.graph->apply(std::make_unique<AddPositions>(), {x, table},
                        {x.shape().rows(), x.shape().columns()});
}

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

namespace {

class CrossEntropy final : public Operator {
 public:
  std::string_view name() const override { return "cross_entropy"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    const double scale = f.training ? f.scalars->gradient_scale : 0.0;
    f.kernels->loss->cross_entropy(f.inputs[0], f.inputs[1], scale, f.output);
  }
  void backward(const Frame&) const override {}  // forward has done it
};

}  // namespace

Var cross_entropy(Var logits, Var targets) {
  require(targets.shape().elements() == logits.shape().rows(), "cross_entropy",
          "logits are " + logits.shape().text() + ", targets " + targets.shape().text());
  return logits.graph->apply(std::make_unique<CrossEntropy>(), {logits, targets},
                             {logits.shape().rows(), 1}, Dtype::f64);
}

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

namespace {

class ConcatColumns final : public Operator {
 public:
  std::string_view name() const override { return "concat_columns"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    std::int64_t column = 0;
    for (const View& input : f.inputs) {
      f.kernels->recommender->copy_columns(input, 0, f.output, column, input.columns, false);
      column += input.columns;
    }
  }
  void backward(const Frame& f) const override {
    std::int64_t column = 0;
    for (std::size_t i = 0; i < f.inputs.size(); ++i) {
      const std::int64_t columns = f.inputs[i].columns;
      if (f.input_gradients[i])
        f.kernels->recommender->copy_columns(f.output_gradient, column, f.input_gradients[i], 0,
                                             columns, f.adds(i));
      column += columns;
    }
  }
};

}  // namespace

Var concat_columns(Var a, Var b) {
  require(a.shape().rows() == b.shape().rows(), "concat_columns",
          a.shape().text() + " and " + b.shape().text());
  return a.graph->apply(std::make_unique<ConcatColumns>(), {a, b},
                        {a.shape().rows(), a.shape().columns() + b.shape().columns()});
}

namespace {

class BinaryCrossEntropy final : public Operator {
 public:
  std::string_view name() const override { return "binary_cross_entropy"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    const double scale = f.training ? f.scalars->gradient_scale : 0.0;
    f.kernels->recommender->binary_cross_entropy(f.inputs[0], f.inputs[1], scale, f.output);
  }
  void backward(const Frame&) const override {}  // forward has done it
};

}  // namespace

Var binary_cross_entropy(Var logits, Var labels) {
  require(logits.shape().columns() == 1 && labels.shape() == logits.shape(), "binary_cross_entropy",
          "logits are " + logits.shape().text() + ", labels " + labels.shape().text());
  return logits.graph->apply(std::make_unique<BinaryCrossEntropy>(), {logits, labels},
                             {logits.shape().rows(), 1}, Dtype::f64);
}

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
