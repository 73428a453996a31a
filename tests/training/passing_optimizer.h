// Kernels of updates that a test changes in part.
#pragma once

#include <memory>
#include <utility>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingOptimizer : public OptimizerKernels {
 public:
  explicit PassingOptimizer(std::unique_ptr<OptimizerKernels> real) : real_(std::move(real)) {}
  void adamw(const AdamwRange& range) override { real_->adamw(range); }
  void momentum(const MomentumRange& range) override { real_->momentum(range); }
  void adagrad_rows(const AdagradRows& rows) override { real_->adagrad_rows(rows); }
  double square_sum(View x) override { return real_->square_sum(x); }

 private:
  std::unique_ptr<OptimizerKernels> real_;
};

}  // namespace bench::training
