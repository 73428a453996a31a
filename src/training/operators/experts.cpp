#include "training/operators/experts.h"

#include <memory>
#include <string>

#include "core/error.h"

namespace bench::training {
namespace {

ExpertKernels& expert_kernels(const Frame& f) {
  if (!f.kernels->experts)
    throw Error(ErrorKind::input,
                "kernels of routed experts are not available in " +
                    std::string(to_string(f.inputs[0].dtype)) + " on this device",
                "train in f32 on CPUs");
  return *f.kernels->experts;
}

void check_routing(const char* name, Var logits, const Routing& routing) {
  require(logits.shape().columns() == routing.experts && routing.sequence > 0 &&
              logits.shape().rows() % routing.sequence == 0,
          name,
          "logits are " + logits.shape().text() + ", not " + std::to_string(routing.experts) +
              " experts in sequences of " + std::to_string(routing.sequence));
  require(routing.top >= 1 && routing.top <= routing.experts && routing.capacity >= 0, name,
          std::to_string(routing.top) + " of " + std::to_string(routing.experts) +
              " experts with a capacity of " + std::to_string(routing.capacity));
}

class Route final : public Operator {
 public:
  Route(const Routing& routing, double balance) : routing_(routing), balance_(balance) {}
  std::string_view name() const override { return "route"; }
  void forward(const Frame& f) const override {
    expert_kernels(f).route(routing_, f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    expert_kernels(f).route_backward(
        routing_, {f.inputs[0], f.output_gradient, f.input_gradients[0], balance_ * f.loss_scale(),
                   f.adds(0)});
  }

 private:
  Routing routing_;
  double balance_;
};

class RoutingStatistics final : public Operator {
 public:
  explicit RoutingStatistics(const Routing& routing) : routing_(routing) {}
  std::string_view name() const override { return "routing_statistics"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    if (!f.training) expert_kernels(f).statistics(routing_, f.inputs[0], f.output);
  }
  void backward(const Frame&) const override {}  // nothing depends on it

 private:
  Routing routing_;
};

class Experts final : public Operator {
 public:
  Experts(const ExpertSlots& slots, std::int64_t width, std::int64_t hidden, std::int64_t experts)
      : slots_(slots.most),
        usual_slots_(slots.usual),
        width_(width),
        hidden_(hidden),
        experts_(experts) {}

  std::string_view name() const override { return "experts"; }
  std::vector<Saved> saved() const override {
    return {{{1, experts_ + 1 + slots_}},
            {{slots_, width_}, false},
            {{slots_, 2 * hidden_}, false},
            {{slots_, hidden_}, false}};
  }
  std::int64_t backward_workspace() const override { return slots_ * (width_ + 3 * hidden_); }
  double flops() const override {
    return 6.0 * static_cast<double>(usual_slots_) * static_cast<double>(width_ * hidden_);
  }

  void forward(const Frame& f) const override { expert_kernels(f).forward(tensors(f), f.output); }
  void backward(const Frame& f) const override {
    ExpertGradients gradients;
    gradients.y = f.output_gradient;
    gradients.workspace = f.workspace;
    gradients.x = f.input_gradients[kX];
    gradients.gates = f.input_gradients[kGates];
    gradients.up = f.input_gradients[kUp];
    gradients.down = f.input_gradients[kDown];
    gradients.add_x = f.adds(kX);
    gradients.add_gates = f.adds(kGates);
    gradients.add_up = f.adds(kUp);
    gradients.add_down = f.adds(kDown);
    expert_kernels(f).backward(tensors(f), gradients);
  }

 private:
  enum Input : std::size_t { kX, kGates, kUp, kDown };
  enum Kept : std::size_t { kOrder, kGathered, kHidden, kActivated };

  static ExpertTensors tensors(const Frame& f) {
    View order = f.saved[kOrder];
    order.dtype = Dtype::int32;  // not wider than a statistic
    return {f.inputs[kX], f.inputs[kGates],   f.inputs[kUp],    f.inputs[kDown],
            order,        f.saved[kGathered], f.saved[kHidden], f.saved[kActivated]};
  }

  std::int64_t slots_, usual_slots_, width_, hidden_, experts_;
};

}  // namespace

Var route(Var logits, const Routing& routing, double balance) {
  check_routing("route", logits, routing);
  return logits.graph->apply(std::make_unique<Route>(routing, balance), {logits}, logits.shape());
}

Var routing_statistics(Var logits, const Routing& routing) {
  check_routing("routing_statistics", logits, routing);
  return logits.graph->apply(
      std::make_unique<RoutingStatistics>(routing), {logits},
      {logits.shape().rows() / routing.sequence, routing.experts + kRoutingColumns}, Dtype::f64);
}

Var experts(Var x, Var gates, Var up, Var down, std::int64_t top) {
  require(top >= 1 && top <= gates.shape().columns(), "experts",
          "gates are " + gates.shape().text() + ", top " + std::to_string(top));
  const std::int64_t slots = x.shape().rows() * top;
  return experts(x, gates, up, down, ExpertSlots{slots, slots});
}

Var experts(Var x, Var gates, Var up, Var down, const ExpertSlots& slots) {
  const std::int64_t rows = x.shape().rows(), d = x.shape().columns();
  const std::int64_t count = gates.shape().columns(), hidden = up.shape().columns() / 2;
  require(gates.shape().rows() == rows && up.shape() == Shape({count, d, 2 * hidden}) &&
              down.shape() == Shape({count, hidden, d}),
          "experts",
          "x is " + x.shape().text() + ", gates " + gates.shape().text() + ", up " +
              up.shape().text() + ", down " + down.shape().text());
  return x.graph->apply(std::make_unique<Experts>(slots, d, hidden, count), {x, gates, up, down},
                        x.shape());
}

}  // namespace bench::training
