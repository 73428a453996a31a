#include "training/operators/recommender.h"

#include <memory>
#include <string>

#include "core/error.h"

namespace bench::training {
namespace {

RecommenderKernels& recommender(const Frame& f) {
  if (!f.kernels->recommender)
    throw Error(
        ErrorKind::input,
        "recommender kernels are not available in " + std::string(to_string(f.inputs[0].dtype)),
        "train in f32");
  return *f.kernels->recommender;
}

class Relu final : public Operator {
 public:
  std::string_view name() const override { return "relu"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  bool backward_reads_output() const override { return true; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    recommender(f).relu_forward(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    recommender(f).relu_backward(f.output, f.output_gradient, f.input_gradients[0], f.adds(0));
  }
};

class DotInteraction final : public Operator {
 public:
  explicit DotInteraction(double flops) : flops_(flops) {}
  std::string_view name() const override { return "dot_interaction"; }
  double flops() const override { return flops_; }
  void forward(const Frame& f) const override {
    recommender(f).dot_forward(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    recommender(f).dot_backward({f.inputs[0], f.inputs[1], f.output_gradient, f.input_gradients[0],
                                 f.input_gradients[1], f.adds(0), f.adds(1)});
  }

 private:
  double flops_;
};

class Cross final : public Operator {
 public:
  std::string_view name() const override { return "cross"; }
  bool backward_reads_input(std::size_t input) const override { return input < 2; }
  int gradient_in_place() const override { return 2; }
  void forward(const Frame& f) const override {
    recommender(f).cross_forward(f.inputs[0], f.inputs[1], f.inputs[2], f.output);
  }
  void backward(const Frame& f) const override {
    recommender(f).cross_backward({f.inputs[0], f.inputs[1], f.output_gradient,
                                   f.input_gradients[0], f.input_gradients[1], f.adds(0),
                                   f.adds(1)});
    // The gradient of x comes last: it may share memory with y's or x0's gradient.
    f.pass_gradient(2);
  }
};

class ConcatColumns final : public Operator {
 public:
  std::string_view name() const override { return "concat_columns"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    std::int64_t column = 0;
    for (const View& input : f.inputs) {
      recommender(f).copy_columns(input, 0, f.output, column, input.columns, false);
      column += input.columns;
    }
  }
  void backward(const Frame& f) const override {
    std::int64_t column = 0;
    for (std::size_t i = 0; i < f.inputs.size(); ++i) {
      const std::int64_t columns = f.inputs[i].columns;
      if (f.input_gradients[i])
        recommender(f).copy_columns(f.output_gradient, column, f.input_gradients[i], 0, columns,
                                    f.adds(i));
      column += columns;
    }
  }
};

class ColumnsOf final : public Operator {
 public:
  explicit ColumnsOf(std::int64_t first) : first_(first) {}
  std::string_view name() const override { return "columns_of"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    recommender(f).copy_columns(f.inputs[0], first_, f.output, 0, f.output.columns, false);
  }
  void backward(const Frame& f) const override {
    const View &dy = f.output_gradient, &dx = f.input_gradients[0];
    const std::int64_t end = first_ + dy.columns;
    if (!f.adds(0)) {
      if (first_ > 0) recommender(f).zero_columns(dx, 0, first_);
      if (end < dx.columns) recommender(f).zero_columns(dx, end, dx.columns - end);
    }
    recommender(f).copy_columns(dy, 0, dx, first_, dy.columns, f.adds(0));
  }

 private:
  std::int64_t first_;
};

class RowProducts final : public Operator {
 public:
  explicit RowProducts(double flops) : flops_(flops) {}
  std::string_view name() const override { return "row_products"; }
  bool backward_reads_input(std::size_t input) const override { return input < kBias; }
  double flops() const override { return flops_; }
  void forward(const Frame& f) const override {
    GemmOptions product{false, true};
    product.bias = {f.inputs[kBias].data, 1, f.inputs[kBias].elements(), f.inputs[kBias].dtype};
    f.kernels->gemm->multiply(product, f.inputs[kU], f.inputs[kV], f.output);
  }
  void backward(const Frame& f) const override {
    product_gradient(f, kU, {false, false}, f.inputs[kV]);
    product_gradient(f, kV, {true, false}, f.inputs[kU]);
  }

 private:
  enum Input : std::size_t { kU, kV, kBias };
  /// The output's gradient, or its transpose, times `other`.
  static void product_gradient(const Frame& f, std::size_t input, GemmOptions product, View other) {
    const View& gradient = f.input_gradients[input];
    if (!gradient) return;
    if (f.adds(input)) product.addend = gradient;
    f.kernels->gemm->multiply(product, f.output_gradient, other, gradient);
  }

  double flops_;
};

class BinaryCrossEntropy final : public Operator {
 public:
  std::string_view name() const override { return "binary_cross_entropy"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    recommender(f).binary_cross_entropy(f.inputs[0], f.inputs[1], f.loss_scale(), f.output);
  }
  void backward(const Frame&) const override {}  // forward has computed it
};

}  // namespace

Var relu(Var x) { return x.graph->apply(std::make_unique<Relu>(), {x}, x.shape()); }

Var dot_interaction(Var first, Var rest) {
  const std::int64_t rows = first.shape().rows(), d = first.shape().columns();
  require(rest.shape().rows() == rows && rest.shape().columns() % d == 0, "dot_interaction",
          first.shape().text() + " and " + rest.shape().text());
  const std::int64_t n = rest.shape().columns() / d, pairs = n * (n + 1) / 2;
  return first.graph->apply(
      std::make_unique<DotInteraction>(2.0 * static_cast<double>(rows * pairs * d)), {first, rest},
      {rows, d + pairs});
}

Var cross(Var x0, Var u, Var x) {
  require(x0.shape() == u.shape() && x0.shape() == x.shape(), "cross",
          x0.shape().text() + ", " + u.shape().text() + " and " + x.shape().text());
  return x0.graph->apply(std::make_unique<Cross>(), {x0, u, x}, x0.shape());
}

Var concat_columns(Var a, Var b) {
  require(a.shape().rows() == b.shape().rows(), "concat_columns",
          a.shape().text() + " and " + b.shape().text());
  return a.graph->apply(std::make_unique<ConcatColumns>(), {a, b},
                        {a.shape().rows(), a.shape().columns() + b.shape().columns()});
}

Var columns_of(Var x, std::int64_t first, std::int64_t count) {
  require(
      first >= 0 && count > 0 && first + count <= x.shape().columns(), "columns_of",
      std::to_string(count) + " columns from " + std::to_string(first) + " of " + x.shape().text());
  return x.graph->apply(std::make_unique<ColumnsOf>(first), {x}, {x.shape().rows(), count});
}

Var row_products(Var u, Var v, Var bias) {
  const std::int64_t rows = u.shape().rows();
  require(u.shape() == v.shape() && bias.shape().elements() == rows, "row_products",
          u.shape().text() + " and " + v.shape().text() + ", the bias " + bias.shape().text());
  return u.graph->apply(
      std::make_unique<RowProducts>(2.0 * static_cast<double>(rows * rows * u.shape().columns())),
      {u, v, bias}, {rows, rows});
}

Var binary_cross_entropy(Var logits, Var labels) {
  require(logits.shape().columns() == 1 && labels.shape() == logits.shape(), "binary_cross_entropy",
          "logits are " + logits.shape().text() + ", labels " + labels.shape().text());
  return logits.graph->apply(std::make_unique<BinaryCrossEntropy>(), {logits, labels},
                             {logits.shape().rows(), 1}, Dtype::f64);
}

}  // namespace bench::training
