#include "training/operators/classifier.h"

#include <memory>
#include <string>

namespace bench::training {
namespace {

class MaxPoolOperator final : public Operator {
 public:
  explicit MaxPoolOperator(const PatchShape& window) : window_(window) {}
  std::string_view name() const override { return "max_pool"; }
  bool backward_reads_output() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->classifier->max_pool(window_, f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->classifier->max_pool_backward(
        window_, {f.inputs[0], f.output, f.output_gradient, f.input_gradients[0], f.adds(0)});
  }

 private:
  PatchShape window_;
};

class MeanRowsOperator final : public Operator {
 public:
  std::string_view name() const override { return "mean_rows"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    f.kernels->classifier->mean_rows(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->classifier->mean_rows_backward(f.output_gradient, f.input_gradients[0], f.adds(0));
  }
};

class AddRelu final : public Operator {
 public:
  std::string_view name() const override { return "add_relu"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  bool backward_reads_output() const override { return true; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->classifier->add_relu(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    for (const std::size_t input :
         {std::size_t{1}, std::size_t{0}})  // 0 last: it may share memory with the output's
      if (f.input_gradients[input])
        f.kernels->classifier->add_relu_backward(f.output, f.output_gradient,
                                                 f.input_gradients[input], f.adds(input));
  }
};

class SmoothedCrossEntropy final : public Operator {
 public:
  explicit SmoothedCrossEntropy(double smoothing) : smoothing_(smoothing) {}
  std::string_view name() const override { return "smoothed_cross_entropy"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->classifier->smoothed_cross_entropy(f.inputs[0], f.inputs[1], smoothing_,
                                                  f.loss_scale(), f.output);
  }
  void backward(const Frame&) const override {}  // forward has computed it

 private:
  double smoothing_;
};

}  // namespace

Map max_pool(const Map& x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const PatchShape window{x.height, x.width, kernel, stride, padding, 0, x.channels()};
  require(kernel > padding && stride > 0 && x.pixels() > 0 && window.out_height() > 0 &&
              window.out_width() > 0 && x.values.shape().rows() % x.pixels() == 0,
          "max_pool",
          "windows of " + std::to_string(kernel) + " on " + std::to_string(x.height) + " x " +
              std::to_string(x.width) + " pixels of " + x.values.shape().text());
  const Shape shape{x.images() * window.out_height() * window.out_width(), x.channels()};
  return {x.values.graph->apply(std::make_unique<MaxPoolOperator>(window), {x.values}, shape),
          window.out_height(), window.out_width()};
}

Var mean_rows(Var x, std::int64_t samples) {
  require(samples > 0 && x.shape().rows() % samples == 0, "mean_rows",
          std::to_string(samples) + " samples of " + x.shape().text());
  return x.graph->apply(std::make_unique<MeanRowsOperator>(), {x}, {samples, x.shape().columns()});
}

Var add_relu(Var a, Var b) {
  require(a.shape() == b.shape() && a.id != b.id, "add_relu",
          a.shape().text() + " and " + b.shape().text());
  return a.graph->apply(std::make_unique<AddRelu>(), {a, b}, a.shape());
}

Var smoothed_cross_entropy(Var logits, Var targets, double smoothing) {
  require(
      targets.shape().elements() == logits.shape().rows() && smoothing >= 0.0 && smoothing < 1.0,
      "smoothed_cross_entropy",
      "logits are " + logits.shape().text() + ", targets " + targets.shape().text() +
          ", smoothing " + std::to_string(smoothing));
  return logits.graph->apply(std::make_unique<SmoothedCrossEntropy>(smoothing), {logits, targets},
                             {logits.shape().rows(), 1}, Dtype::f64);
}

}  // namespace bench::training
