// Kernels of routed experts that tests replace in part.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingExperts : public ExpertKernels {
 public:
  explicit PassingExperts(std::unique_ptr<ExpertKernels> real) : real_(std::move(real)) {}
  void route(const Routing& routing, View logits, View gates) override {
    real_->route(routing, logits, gates);
  }
  void route_backward(const Routing& routing, const RouteBackward& what) override {
    real_->route_backward(routing, what);
  }
  void statistics(const Routing& routing, View logits, View statistics) override {
    real_->statistics(routing, logits, statistics);
  }
  void forward(const ExpertTensors& tensors, View y) override { real_->forward(tensors, y); }
  void backward(const ExpertTensors& tensors, const ExpertGradients& gradients) override {
    real_->backward(tensors, gradients);
  }

 private:
  std::unique_ptr<ExpertKernels> real_;
};

template <class Faulty>
void replace_experts(KernelSet& set) {
  set.experts = std::make_unique<Faulty>(std::move(set.experts));
}

/// No gradient of the gates: the router learns nothing but balance.
class UntaughtRouter final : public PassingExperts {
 public:
  using PassingExperts::PassingExperts;
  void route_backward(const Routing& routing, const RouteBackward& what) override {
    std::memset(what.gates_gradient.data, 0,
                static_cast<std::size_t>(what.gates_gradient.elements()) *
                    size_of(what.gates_gradient.dtype));
    PassingExperts::route_backward(routing, what);
  }
};

/// The second expert's down projection gets no gradient.
class StaleExpert final : public PassingExperts {
 public:
  using PassingExperts::PassingExperts;
  void backward(const ExpertTensors& tensors, const ExpertGradients& gradients) override {
    PassingExperts::backward(tensors, gradients);
    const std::int64_t experts = tensors.gates.columns;
    const auto bytes = static_cast<std::size_t>(gradients.down.elements() / experts) *
                       size_of(gradients.down.dtype);
    std::memset(static_cast<std::byte*>(gradients.down.data) + bytes, 0, bytes);
  }
};

/// The balance loss pulls the other way.
class UnbalancingRouter final : public PassingExperts {
 public:
  using PassingExperts::PassingExperts;
  void route_backward(const Routing& routing, const RouteBackward& what) override {
    RouteBackward changed = what;
    changed.balance_scale = -what.balance_scale;
    PassingExperts::route_backward(routing, changed);
  }
};

}  // namespace bench::training
