#include "probes/training/operators/cross_entropy.h"

namespace bench::training {
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

}  // namespace bench::training
