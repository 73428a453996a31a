// Kernels with which a rank forgets what it has not sent of its gradients.
#pragma once

#include <memory>
#include <utility>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Adds a row to another in its place by overwriting it, while `armed`: residuals of a compressed
/// exchange are such rows, activations have several.
class ForgetfulElementwise final : public ElementwiseKernels {
 public:
  ForgetfulElementwise(std::unique_ptr<ElementwiseKernels> real, const bool& armed)
      : real_(std::move(real)), armed_(armed) {}
  void add(View a, View b, View y) override {
    if (armed_ && y.rows == 1 && y.data == b.data) return real_->copy(a, y, false);
    real_->add(a, b, y);
  }
  void copy(View x, View y, bool add) override { real_->copy(x, y, add); }
  void column_sums(View x, View sums, bool add) override { real_->column_sums(x, sums, add); }

 private:
  std::unique_ptr<ElementwiseKernels> real_;
  const bool& armed_;
};

/// `armed` must outlive the kernels.
inline void forget_residuals(KernelSet& set, const bool& armed) {
  set.elementwise = std::make_unique<ForgetfulElementwise>(std::move(set.elementwise), armed);
}

}  // namespace bench::training
