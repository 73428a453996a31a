#include "probes/training/operators/binary_cross_entropy.h"

namespace bench::training {
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

}  // namespace bench::training
