// Gradients smaller than 2^-25 are zero in f16. So the loss, and every gradient with it, is
// multiplied by a power of two that adapts during training: an overflow halves it and its
// step is skipped, many steps without one double it (mixed precision training, arXiv
// 1710.03740, 3.2; the constants are those of PyTorch's GradScaler).
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace bench::training {

struct LossScaleOptions {
  double initial = 65536.0;
  std::int64_t growth_interval = 2000;  // steps without overflow until it doubles
};

class LossScale {
 public:
  /// For gradients of `dtype`: always 1 except in f16.
  explicit LossScale(Dtype dtype, const LossScaleOptions& options = {});

  double value() const { return state_.value; }
  /// Whether it can change.
  bool dynamic() const { return dynamic_; }
  /// Call after each step with its gradient norm; returns whether to update the parameters. Not
  /// after an overflow, unless the scale is already 1: then the gradient itself is not a number.
  bool accepts(double gradient_norm);

  /// The state that a checkpoint stores.
  struct State {
    double value = 1.0;
    std::int64_t unbroken = 0;  // steps since the last change
    std::int64_t skipped = 0;   // steps in total
    bool operator==(const State&) const = default;
  };
  const State& state() const { return state_; }
  void resume(const State& state) { state_ = state; }
  std::int64_t skipped() const { return state_.skipped; }

 private:
  bool dynamic_;
  std::int64_t growth_interval_;
  State state_ = {};
};

}  // namespace bench::training
