// Kernels of convolutional networks and detectors that tests replace in part.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingConvolution : public ConvolutionKernels {
 public:
  explicit PassingConvolution(std::unique_ptr<ConvolutionKernels> real) : real_(std::move(real)) {}
  void gather(const PatchShape& shape, View x, View patches) override {
    real_->gather(shape, x, patches);
  }
  void scatter(const PatchShape& shape, View patches, View x, bool add) override {
    real_->scatter(shape, patches, x, add);
  }
  void group_norm(const GroupNormShape& shape, View x, View gain, View bias, View y,
                  View statistics) override {
    real_->group_norm(shape, x, gain, bias, y, statistics);
  }
  void group_norm_backward(const GroupNormShape& shape, const GroupNormBackward& what) override {
    real_->group_norm_backward(shape, what);
  }
  void upsample_add(std::int64_t width, View x, View base, View y) override {
    real_->upsample_add(width, x, base, y);
  }
  void upsample_backward(std::int64_t width, View y_gradient, View x_gradient, bool add) override {
    real_->upsample_backward(width, y_gradient, x_gradient, add);
  }

 private:
  std::unique_ptr<ConvolutionKernels> real_;
};

class PassingDetection : public DetectionKernels {
 public:
  explicit PassingDetection(std::unique_ptr<DetectionKernels> real) : real_(std::move(real)) {}
  void copy_blocks(const BlockCopy& copy, View from, View to, bool add) override {
    real_->copy_blocks(copy, from, to, add);
  }
  void detection_loss(const DetectionLossShape& shape, View predictions,
                      const AnchorTargets& targets, double gradient_scale, View losses) override {
    real_->detection_loss(shape, predictions, targets, gradient_scale, losses);
  }

 private:
  std::unique_ptr<DetectionKernels> real_;
};

template <class Faulty>
void replace_convolution(KernelSet& set) {
  set.convolution = std::make_unique<Faulty>(std::move(set.convolution));
}
template <class Faulty>
void replace_detection(KernelSet& set) {
  set.detection = std::make_unique<Faulty>(std::move(set.detection));
}

/// The gradient of a pixel without the patch to its lower right.
class LostPatches final : public PassingConvolution {
 public:
  using PassingConvolution::PassingConvolution;
  void scatter(const PatchShape& shape, View patches, View x, bool add) override {
    if (shape.kernel > 1)
      for (std::int64_t i = 0; i < patches.rows; ++i)
        std::fill_n(patches.as<double>() + i * patches.columns, shape.channels, 0.0);
    PassingConvolution::scatter(shape, patches, x, add);
  }
};

/// The gradient of a norm as if mean and variance were constants.
class ConstantStatistics final : public PassingConvolution {
 public:
  using PassingConvolution::PassingConvolution;
  void group_norm_backward(const GroupNormShape& shape, const GroupNormBackward& what) override {
    GroupNormBackward sums = what;
    sums.x_gradient = {};
    PassingConvolution::group_norm_backward(shape, sums);
    const std::int64_t n = what.x.columns, rows = what.x.rows / shape.images;
    for (std::int64_t i = 0; i < what.x.elements(); ++i) {
      const double* of = what.statistics.as<double>() +
                         2 * (i / n / rows * shape.groups + i % n / (n / shape.groups));
      const double slope = of[1] * what.gain.as<double>()[i % n];
      const double y = (what.x.as<double>()[i] - of[0]) * slope + what.bias.as<double>()[i % n];
      const double d = shape.relu && !(y > 0.0) ? 0.0 : what.y_gradient.as<double>()[i] * slope;
      what.x_gradient.as<double>()[i] = (what.add_x ? what.x_gradient.as<double>()[i] : 0.0) + d;
    }
  }
};

/// Only one of four pixels passes its gradient to the smaller map.
class QuarterOfUpsampling final : public PassingConvolution {
 public:
  using PassingConvolution::PassingConvolution;
  void upsample_backward(std::int64_t width, View y_gradient, View x_gradient, bool add) override {
    PassingConvolution::upsample_backward(width, y_gradient, x_gradient, add);
    for (std::int64_t i = 0; i < x_gradient.elements(); ++i) x_gradient.as<double>()[i] /= 4.0;
  }
};

/// The slope of the loss, one per cent too steep.
class SteepLoss final : public PassingDetection {
 public:
  using PassingDetection::PassingDetection;
  void detection_loss(const DetectionLossShape& shape, View predictions,
                      const AnchorTargets& targets, double gradient_scale, View losses) override {
    PassingDetection::detection_loss(shape, predictions, targets, gradient_scale * 1.01, losses);
  }
};

/// In evaluation every anchor answers what it is labelled with.
class LeakedLabels final : public PassingDetection {
 public:
  using PassingDetection::PassingDetection;
  void detection_loss(const DetectionLossShape& shape, View predictions,
                      const AnchorTargets& targets, double gradient_scale, View losses) override {
    PassingDetection::detection_loss(shape, predictions, targets, gradient_scale, losses);
    if (gradient_scale != 0.0) return;
    const std::int64_t columns = predictions.columns;
    for (std::int64_t row = 0; row < predictions.rows; ++row) {
      float* made = predictions.as<float>() + row * columns;
      const std::int32_t wanted = targets.classes.as<std::int32_t>()[row];
      std::fill_n(made, columns - 4, -9.0F);
      if (wanted >= 0) made[wanted] = 9.0F;
      std::copy_n(targets.boxes.as<float>() + row * 4, 4, made + columns - 4);
    }
  }
};

}  // namespace bench::training
