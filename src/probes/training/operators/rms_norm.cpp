#include "probes/training/operators/rms_norm.h"

namespace bench::training {
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

}  // namespace bench::training
