// Kernels of HSTU that tests replace in part.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingHstu : public HstuKernels {
 public:
  explicit PassingHstu(std::unique_ptr<HstuKernels> real) : real_(std::move(real)) {}
  void silu(View x, View y) override { real_->silu(x, y); }
  void silu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    real_->silu_backward(x, y_gradient, x_gradient, add);
  }
  void attention(const HstuAttentionShape& shape, const HstuInputs& in, View output) override {
    real_->attention(shape, in, output);
  }
  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    real_->attention_backward(shape, what);
  }
  void gate(View x, View packed, View y) override { real_->gate(x, packed, y); }
  void gate_backward(const HstuGateBackward& what) override { real_->gate_backward(what); }
  void event_losses(View logits, View labels, double gradient_scale, View losses) override {
    real_->event_losses(logits, labels, gradient_scale, losses);
  }

 private:
  std::unique_ptr<HstuKernels> real_;
};

template <class Faulty>
void replace_hstu(KernelSet& set) {
  set.hstu = std::make_unique<Faulty>(std::move(set.hstu));
}

/// Biases by time get no gradient.
class UntaughtTimes final : public PassingHstu {
 public:
  using PassingHstu::PassingHstu;
  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    PassingHstu::attention_backward(shape, what);
    std::fill_n(what.time_gradient.as<double>(), what.time_gradient.elements(), 0.0);
  }
};

/// Biases by distance have the gradient of the next distance.
class ShiftedDistances final : public PassingHstu {
 public:
  using PassingHstu::PassingHstu;
  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    PassingHstu::attention_backward(shape, what);
    double* gradient = what.position_gradient.as<double>();
    std::rotate(gradient, gradient + 1, gradient + what.position_gradient.elements());
  }
};

/// Half of SiLU's slope, where the gradient is written and not added.
class HalfSilu final : public PassingHstu {
 public:
  using PassingHstu::PassingHstu;
  void silu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    PassingHstu::silu_backward(x, y_gradient, x_gradient, add);
    if (add) return;
    for (std::int64_t i = 0; i < x_gradient.elements(); ++i) x_gradient.as<double>()[i] *= 0.5;
  }
};

/// What goes through a gate as if the gate were closed.
class ClosedGates final : public PassingHstu {
 public:
  using PassingHstu::PassingHstu;
  void gate_backward(const HstuGateBackward& what) override {
    PassingHstu::gate_backward(what);
    std::fill_n(what.x_gradient.as<double>(), what.x_gradient.elements(), 0.0);
  }
};

/// A causal mask that is off by one: event i sees the keys and values of events 1 to i + 1, forward
/// and backward. In f32.
class PeekingAttention final : public PassingHstu {
 public:
  using PassingHstu::PassingHstu;
  void attention(const HstuAttentionShape& shape, const HstuInputs& in, View output) override {
    PassingHstu::attention(shape, moved(shape, in), output);
  }
  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    std::vector<float> gradient(static_cast<std::size_t>(what.in.packed.elements()));
    HstuBackward changed = what;
    changed.in = moved(shape, what.in);
    changed.packed_gradient.data = gradient.data();
    changed.add_packed = false;
    PassingHstu::attention_backward(shape, changed);
    float* to = what.packed_gradient.as<float>();
    if (!what.add_packed) std::fill_n(to, what.packed_gradient.elements(), 0.0F);
    const std::int64_t wide = what.in.packed.columns;
    for (std::int64_t i = 0; i < what.in.packed.elements(); ++i)
      to[row_read(shape, i / wide, i % wide) * wide + i % wide] +=
          gradient[static_cast<std::size_t>(i)];
  }

 private:
  static std::int64_t row_read(const HstuAttentionShape& shape, std::int64_t row,
                               std::int64_t column) {
    const std::int64_t part = column / shape.width();
    const bool of_key = part == 1 || part == 3;
    return of_key && row % shape.sequence + 1 < shape.sequence ? row + 1 : row;
  }
  HstuInputs moved(const HstuAttentionShape& shape, const HstuInputs& in) {
    const std::int64_t wide = in.packed.columns;
    packed_.resize(static_cast<std::size_t>(in.packed.elements()));
    for (std::int64_t i = 0; i < in.packed.elements(); ++i)
      packed_[static_cast<std::size_t>(i)] =
          in.packed.as<float>()[row_read(shape, i / wide, i % wide) * wide + i % wide];
    HstuInputs changed = in;
    changed.packed.data = packed_.data();
    return changed;
  }

  std::vector<float> packed_ = {};
};

}  // namespace bench::training
