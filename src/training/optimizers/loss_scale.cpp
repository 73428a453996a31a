#include "training/optimizers/loss_scale.h"

#include <algorithm>
#include <cmath>

namespace bench::training {
namespace {

constexpr double kFactor = 2.0;
constexpr double kLeast = 1.0;
constexpr double kMost = 0x1p24;  // otherwise zero gradients would let it grow without limit

}  // namespace

LossScale::LossScale(Dtype dtype, const LossScaleOptions& options)
    : dynamic_(dtype == Dtype::f16), growth_interval_(options.growth_interval) {
  if (dynamic_) state_.value = options.initial;
}

bool LossScale::accepts(double gradient_norm) {
  if (!dynamic_) return true;
  if (!std::isfinite(gradient_norm)) {
    if (state_.value <= kLeast) return true;
    state_ = {std::max(state_.value / kFactor, kLeast), 0, state_.skipped + 1};
    return false;
  }
  if (++state_.unbroken == growth_interval_)
    state_ = {std::min(state_.value * kFactor, kMost), 0, state_.skipped};
  return true;
}

}  // namespace bench::training
