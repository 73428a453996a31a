// Kernels of image classifiers that tests replace in part.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingClassifier : public ClassifierKernels {
 public:
  explicit PassingClassifier(std::unique_ptr<ClassifierKernels> real) : real_(std::move(real)) {}
  void max_pool(const PatchShape& window, View x, View y) override {
    real_->max_pool(window, x, y);
  }
  void max_pool_backward(const PatchShape& window, const PoolBackward& what) override {
    real_->max_pool_backward(window, what);
  }
  void mean_rows(View x, View y) override { real_->mean_rows(x, y); }
  void mean_rows_backward(View y_gradient, View x_gradient, bool add) override {
    real_->mean_rows_backward(y_gradient, x_gradient, add);
  }
  void add_relu(View a, View b, View y) override { real_->add_relu(a, b, y); }
  void add_relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    real_->add_relu_backward(y, y_gradient, x_gradient, add);
  }
  void smoothed_cross_entropy(View logits, View targets, double smoothing, double gradient_scale,
                              View losses) override {
    real_->smoothed_cross_entropy(logits, targets, smoothing, gradient_scale, losses);
  }

 private:
  std::unique_ptr<ClassifierKernels> real_;
};

template <class Faulty>
void replace_classifier(KernelSet& set) {
  set.classifier = std::make_unique<Faulty>(std::move(set.classifier));
}

/// A window's gradient goes to its first pixel, whichever is the largest.
class FirstOfWindow final : public PassingClassifier {
 public:
  using PassingClassifier::PassingClassifier;
  void max_pool_backward(const PatchShape& window, const PoolBackward& what) override {
    std::fill_n(what.x.as<double>(), what.x.elements(), 0.0);
    std::fill_n(what.y.as<double>(), what.y.elements(), 0.0);
    PassingClassifier::max_pool_backward(window, what);
  }
};

/// The gradient of a mean as if it were a sum.
class SummedRows final : public PassingClassifier {
 public:
  using PassingClassifier::PassingClassifier;
  void mean_rows_backward(View y_gradient, View x_gradient, bool add) override {
    const auto each = static_cast<double>(x_gradient.rows / y_gradient.rows);
    for (std::int64_t i = 0; i < y_gradient.elements(); ++i) y_gradient.as<double>()[i] *= each;
    PassingClassifier::mean_rows_backward(y_gradient, x_gradient, add);
  }
};

/// A rectified sum that passes its gradient everywhere.
class OpenRelu final : public PassingClassifier {
 public:
  using PassingClassifier::PassingClassifier;
  void add_relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    std::fill_n(y.as<double>(), y.elements(), 1.0);
    PassingClassifier::add_relu_backward(y, y_gradient, x_gradient, add);
  }
};

/// The slope of the loss as if labels were not smoothed, its value as it is.
class SlopeOfSharpLabels final : public PassingClassifier {
 public:
  using PassingClassifier::PassingClassifier;
  void smoothed_cross_entropy(View logits, View targets, double smoothing, double gradient_scale,
                              View losses) override {
    PassingClassifier::smoothed_cross_entropy(logits, targets, smoothing, 0.0, losses);
    if (gradient_scale == 0.0) return;
    std::vector<double> ignored(static_cast<std::size_t>(losses.elements()));
    PassingClassifier::smoothed_cross_entropy(
        logits, targets, 0.0, gradient_scale,
        {ignored.data(), losses.rows, losses.columns, losses.dtype});
  }
};

/// In evaluation every picture's logits say its label.
class LeakedClasses final : public PassingClassifier {
 public:
  using PassingClassifier::PassingClassifier;
  void smoothed_cross_entropy(View logits, View targets, double smoothing, double gradient_scale,
                              View losses) override {
    PassingClassifier::smoothed_cross_entropy(logits, targets, smoothing, gradient_scale, losses);
    if (gradient_scale != 0.0) return;
    for (std::int64_t row = 0; row < logits.rows; ++row)
      logits.as<float>()[row * logits.columns + targets.as<std::int32_t>()[row]] = 99.0F;
  }
};

}  // namespace bench::training
