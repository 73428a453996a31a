// Kernels of diffusion transformers that tests replace in part.
#pragma once

#include <memory>
#include <utility>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingDiffusion : public DiffusionKernels {
 public:
  explicit PassingDiffusion(std::unique_ptr<DiffusionKernels> real) : real_(std::move(real)) {}
  void modulate(View x, View vectors, View y) override { real_->modulate(x, vectors, y); }
  void modulate_backward(const ModulateBackward& what) override { real_->modulate_backward(what); }
  void gate(View x, View gates, View residual, View y) override {
    real_->gate(x, gates, residual, y);
  }
  void gate_backward(const GateBackward& what) override { real_->gate_backward(what); }
  void zero(View x) override { real_->zero(x); }
  void squared_error(View predictions, View targets, double gradient_scale, View losses) override {
    real_->squared_error(predictions, targets, gradient_scale, losses);
  }

 private:
  std::unique_ptr<DiffusionKernels> real_;
};

template <class Faulty>
void replace_diffusion(KernelSet& set) {
  set.diffusion = std::make_unique<Faulty>(std::move(set.diffusion));
}

/// Shift and scale of all blocks get no gradient.
class UntaughtModulation final : public PassingDiffusion {
 public:
  using PassingDiffusion::PassingDiffusion;
  void modulate_backward(const ModulateBackward& what) override {
    PassingDiffusion::modulate_backward(what);
    zero(what.vectors_gradient);
  }
};

/// The gradient behind a gate, as if the gate were 1.
class OpenGates final : public PassingDiffusion {
 public:
  using PassingDiffusion::PassingDiffusion;
  void gate_backward(const GateBackward& what) override {
    PassingDiffusion::gate_backward(what);
    for (std::int64_t i = 0; i < what.x_gradient.elements(); ++i)
      what.x_gradient.as<double>()[i] = what.y_gradient.as<double>()[i];
  }
};

/// The slope of the squared error without its factor 2.
class HalfSlope final : public PassingDiffusion {
 public:
  using PassingDiffusion::PassingDiffusion;
  void squared_error(View predictions, View targets, double gradient_scale, View losses) override {
    PassingDiffusion::squared_error(predictions, targets, gradient_scale / 2.0, losses);
  }
};

}  // namespace bench::training
