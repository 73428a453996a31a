#include "training/operators/hstu.h"

#include <memory>
#include <string>

namespace bench::training {
namespace {

class SiluOperator final : public Operator {
 public:
  std::string_view name() const override { return "silu"; }
  void forward(const Frame& f) const override { f.kernels->hstu->silu(f.inputs[0], f.output); }
  void backward(const Frame& f) const override {
    f.kernels->hstu->silu_backward(f.inputs[0], f.output_gradient, f.input_gradients[0], f.adds(0));
  }
};

class HstuAttentionOperator final : public Operator {
 public:
  HstuAttentionOperator(const HstuAttentionShape& shape, double flops)
      : shape_(shape), flops_(flops) {}
  std::string_view name() const override { return "hstu_attention"; }
  double flops() const override { return flops_; }
  void forward(const Frame& f) const override {
    f.kernels->hstu->attention(shape_, inputs(f), f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->hstu->attention_backward(
        shape_,
        {inputs(f), f.output_gradient, f.input_gradients[kPacked], f.input_gradients[kPositionBias],
         f.input_gradients[kTimeBias], f.adds(kPacked), f.adds(kPositionBias), f.adds(kTimeBias)});
  }

 private:
  enum Input : std::size_t { kPacked, kLengths, kTimes, kPositionBias, kTimeBias };
  static HstuInputs inputs(const Frame& f) {
    return {f.inputs[kPacked], f.inputs[kLengths], f.inputs[kTimes], f.inputs[kPositionBias],
            f.inputs[kTimeBias]};
  }

  HstuAttentionShape shape_;
  double flops_;
};

class HstuGateOperator final : public Operator {
 public:
  std::string_view name() const override { return "hstu_gate"; }
  void forward(const Frame& f) const override {
    f.kernels->hstu->gate(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->hstu->gate_backward({f.inputs[0], f.inputs[1], f.output_gradient,
                                    f.input_gradients[0], f.input_gradients[1], f.adds(0),
                                    f.adds(1)});
  }
};

class EventLossesOperator final : public Operator {
 public:
  std::string_view name() const override { return "event_losses"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->hstu->event_losses(f.inputs[0], f.inputs[1], f.loss_scale(), f.output);
  }
  void backward(const Frame&) const override {}  // forward has computed it
};

constexpr std::int64_t kMostHeadDim = 256;  // the host's kernels have buffers for as much

}  // namespace

Var silu(Var x) { return x.graph->apply(std::make_unique<SiluOperator>(), {x}, x.shape()); }

Var hstu_attention(const HstuVars& in, const HstuAttentionShape& shape) {
  const std::int64_t rows = in.packed.shape().rows();
  require(shape.sequence > 0 && rows % shape.sequence == 0 && shape.head_dim > 0 &&
              shape.head_dim <= kMostHeadDim &&
              in.packed.shape().columns() == shape.packed_columns() &&
              in.lengths.shape().elements() == rows / shape.sequence &&
              in.times.shape().elements() == rows,
          "hstu_attention",
          "packed is " + in.packed.shape().text() + ", lengths " + in.lengths.shape().text() +
              ", times " + in.times.shape().text() + " for sequences of " +
              std::to_string(shape.sequence) + " and heads of " + std::to_string(shape.head_dim));
  require(in.position_bias.shape() == Shape{shape.heads, shape.sequence} && shape.buckets > 0 &&
              in.time_bias.shape() == Shape{shape.heads, shape.buckets},
          "hstu_attention",
          "biases are " + in.position_bias.shape().text() + " and " + in.time_bias.shape().text() +
              " for " + std::to_string(shape.heads) + " heads");
  const double flops = 2.0 * static_cast<double>(rows * shape.sequence * shape.width());
  return in.packed.graph->apply(std::make_unique<HstuAttentionOperator>(shape, flops),
                                {in.packed, in.lengths, in.times, in.position_bias, in.time_bias},
                                {rows, shape.width()});
}

Var hstu_gate(Var x, Var packed) {
  require(x.shape().rows() == packed.shape().rows() &&
              4 * x.shape().columns() == packed.shape().columns(),
          "hstu_gate", x.shape().text() + " and " + packed.shape().text());
  return x.graph->apply(std::make_unique<HstuGateOperator>(), {x, packed}, x.shape());
}

Var event_losses(Var logits, Var labels) {
  require(logits.shape().columns() == 1 && labels.shape() == logits.shape(), "event_losses",
          "logits are " + logits.shape().text() + ", labels " + labels.shape().text());
  return logits.graph->apply(std::make_unique<EventLossesOperator>(), {logits, labels},
                             {logits.shape().rows(), 1}, Dtype::f64);
}

}  // namespace bench::training
